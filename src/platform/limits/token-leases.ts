// Tokens that several processes share. A process leases them in batches, so that most of what takes
// a token finds one that its process already holds.

export interface TokenLimit {
  /** Whose limit it is, and which. */
  subject: string;
  /** How many tokens a process leases at once, and therefore holds at most. */
  batch: number;
  /** How long a process does not ask again after it got less than a batch. */
  pauseMs: number;
}

interface HeldTokens {
  tokens: number;
  /** Tokens that were not used until then have run out. */
  untilMs: number;
  pausedUntilMs: number;
}

interface Batch<Limit> {
  limits: Limit[];
  sent: Promise<void>;
}

const heldMs = 10_000;

export class TokenLeases<Limit extends TokenLimit> {
  private readonly held = new Map<string, HeldTokens>();
  /** The batch of each limit that is being leased. */
  private readonly leasing = new Map<string, Batch<Limit>>();
  private next: Batch<Limit> | null = null;
  private lastSent: Promise<unknown> = Promise.resolve();

  /** `lease` grants up to a batch of each limit: how many tokens, by subject. No calls overlap. */
  constructor(
    private readonly lease: (limits: readonly Limit[]) => Promise<ReadonlyMap<string, number>>,
  ) {}

  /**
   * Takes one token of each limit, or none. Returns after how many milliseconds there may be one
   * again; 0 if it was taken. Throws what `lease` throws.
   */
  async take(limits: readonly Limit[]): Promise<number> {
    for (;;) {
      if (this.takeHeld(limits)) return 0;
      const nowMs = performance.now();
      const missing = limits.filter(({ subject }) => !this.hasToken(subject, nowMs));
      const pauses = missing.map(({ subject }) => this.held.get(subject)?.pausedUntilMs ?? 0);
      const waitMs = Math.max(...pauses) - nowMs;
      if (waitMs > 0) return waitMs;
      await Promise.all(missing.map((limit) => this.join(limit).sent));
    }
  }

  /** Takes one token of each limit if this process holds them. Most of the time it does. */
  takeHeld(limits: readonly Limit[]): boolean {
    const nowMs = performance.now();
    for (const { subject } of limits) if (!this.hasToken(subject, nowMs)) return false;
    for (const { subject } of limits) (this.held.get(subject) as HeldTokens).tokens -= 1;
    return true;
  }

  private hasToken(subject: string, nowMs: number): boolean {
    const held = this.held.get(subject);
    return held !== undefined && held.tokens >= 1 && held.untilMs > nowMs;
  }

  /** Limits that are wanted during a call of `lease` share the next one. */
  private join(limit: Limit): Batch<Limit> {
    const current = this.leasing.get(limit.subject);
    if (current) return current;
    const batch = this.next ?? this.createBatch();
    batch.limits.push(limit);
    this.leasing.set(limit.subject, batch);
    return batch;
  }

  private createBatch(): Batch<Limit> {
    const batch: Batch<Limit> = { limits: [], sent: Promise.resolve() };
    batch.sent = this.lastSent.then(() => this.send(batch));
    this.lastSent = batch.sent.catch(() => undefined);
    this.next = batch;
    return batch;
  }

  private async send(batch: Batch<Limit>): Promise<void> {
    this.next = null;
    try {
      const granted = await this.lease(batch.limits);
      const nowMs = performance.now();
      this.forgetUnused(nowMs);
      for (const { subject, batch: asked, pauseMs } of batch.limits) {
        const tokens = granted.get(subject) ?? 0;
        // The newest is the last one.
        this.held.delete(subject);
        this.held.set(subject, {
          tokens,
          untilMs: nowMs + heldMs,
          pausedUntilMs: tokens < asked ? nowMs + pauseMs : 0,
        });
      }
    } finally {
      for (const { subject } of batch.limits) this.leasing.delete(subject);
    }
  }

  /** There may be any number of subjects. The oldest comes first. */
  private forgetUnused(nowMs: number): void {
    for (const [subject, { untilMs }] of this.held) {
      if (untilMs > nowMs) return;
      this.held.delete(subject);
    }
  }
}
