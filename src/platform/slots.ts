// Long work of this process: it pauses, so that it delays no other request for long, and it gets a
// limited part of memory and connections.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from './errors.js';

const retryAfterSeconds = 10;
/** Several works may take turns, so a slice is a small part of 100 ms. */
const sliceMs = 10;

/**
 * A function that long work awaits often. Once the work has run for `sliceMs` without a pause, the
 * function lets everything else run that waits.
 */
export function pausesBetweenSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** Does at most `free` works at once. Further works wait, in order of arrival. */
export class Slots {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free -= 1;
    else
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    try {
      return await work();
    } finally {
      // The slot passes to the work that has waited longest, before any new one.
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}

/** Counts what each account has open, such as files. */
export class OpenLimit {
  private readonly counts = new Map<number, number>();

  constructor(
    private readonly maxOpen: number,
    /** What is counted, as the error names it. */
    private readonly what: string,
  ) {}

  /**
   * Counts one until the returned function is called. Throws `rate_limited` if the account has too
   * many.
   */
  begin(accountId: number): () => void {
    const open = this.counts.get(accountId) ?? 0;
    if (open >= this.maxOpen)
      throw new AppError('rate_limited', {
        public: `An account can have at most ${this.maxOpen} ${this.what}. Retry when one ends.`,
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    this.counts.set(accountId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const remaining = (this.counts.get(accountId) ?? 1) - 1;
      if (remaining > 0) this.counts.set(accountId, remaining);
      else this.counts.delete(accountId);
    };
  }
}
