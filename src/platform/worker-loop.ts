/**
 * Work that is done in rounds: at once when woken, otherwise when it is due, and at least once in a while. WorkerLoop never
 * overlap, and a wake-up that comes during one makes one more.
 */
export class WorkerLoop {
  private timer: NodeJS.Timeout | null = null;
  private timerAtMs = 0;
  private running: Promise<void> | null = null;
  private isTriggeredAgain = false;
  private isEnded = false;

  /**
   * `round` never rejects, and gives the milliseconds until there is more to look at. Longer than `maxIdleMs` it is
   * not believed: what others make due is seen that late at most.
   */
  constructor(
    private readonly round: () => Promise<number>,
    private readonly maxIdleMs: number,
  ) {}

  get isStopped(): boolean {
    return this.isEnded;
  }

  trigger(): void {
    if (this.isEnded) return;
    this.isTriggeredAgain = true;
    this.running ??= this.run().finally(() => {
      this.running = null;
      if (this.isTriggeredAgain) this.trigger();
    });
  }

  /** Sooner than it would have looked, never later. */
  triggerIn(delayMs: number): void {
    const waitMs = Math.min(delayMs, this.maxIdleMs);
    const atMs = performance.now() + waitMs;
    if (this.isEnded || (this.timer && this.timerAtMs <= atMs)) return;
    if (this.timer) clearTimeout(this.timer);
    this.timerAtMs = atMs;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.trigger();
    }, waitMs);
  }

  /** Ends when no round is under way, and none was asked for meanwhile. */
  async idle(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Begins no other round; ends when the one under way has. */
  async stop(): Promise<void> {
    this.isEnded = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    while (this.isTriggeredAgain && !this.isEnded) {
      this.isTriggeredAgain = false;
      this.triggerIn(await this.round());
    }
  }
}
