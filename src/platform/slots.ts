// Long work of this process: it pauses, so that it delays no other request for long, and it gets a
// limited part of memory and connections.
import { setImmediate as nextTurn } from 'node:timers/promises';

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
