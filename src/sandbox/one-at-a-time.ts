/** Does work in the order in which it came, each after the one before it has ended. */
export class OneAtATime {
  private last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(work);
    // Who failed has told its caller; the next one is not concerned.
    this.last = result.catch(() => undefined);
    return result;
  }
}
