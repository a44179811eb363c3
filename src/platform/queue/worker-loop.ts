/**
 * Runs one function repeatedly: at once when triggered, else when its next work is due, and at
 * least every `maxIdleMs`. Runs never overlap. A trigger during a run causes exactly one more run.
 */
export class WorkerLoop {
  private timer: NodeJS.Timeout | null = null;
  private timerAtMs = 0;
  private running: Promise<void> | null = null;
  private isTriggeredAgain = false;
  private isEnded = false;

  /**
   * `work` must not reject. It returns the milliseconds until its next work is due. The loop waits
   * `maxIdleMs` at most, so that it finds work that other processes added.
   */
  constructor(
    private readonly work: () => Promise<number>,
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

  /** Runs within `delayMs`. An earlier planned run stays planned. */
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

  /** Resolves when no run is in progress and none was triggered meanwhile. */
  async idle(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Starts no more runs, and resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.isEnded = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    while (this.isTriggeredAgain && !this.isEnded) {
      this.isTriggeredAgain = false;
      this.triggerIn(await this.work());
    }
  }
}
