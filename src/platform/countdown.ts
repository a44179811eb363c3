// Counts down a time limit of this process, such as the time in which a request may be sent.

/**
 * A time limit that begins now. It goes by the monotonic clock or by the wall clock, whichever
 * shows that more time has passed: the monotonic clock stands still while the machine sleeps, and
 * the wall clock may be set back.
 */
export class Countdown {
  private readonly monotonicStart = performance.now();
  private readonly wallStart = Date.now();

  constructor(private readonly limitMs: number) {}

  /** Negative after the end. */
  get remainingMs(): number {
    const monotonic = performance.now() - this.monotonicStart;
    return this.limitMs - Math.max(monotonic, Date.now() - this.wallStart);
  }

  get hasEnded(): boolean {
    return this.remainingMs < 0;
  }
}
