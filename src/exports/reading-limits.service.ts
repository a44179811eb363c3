// Limits how many database reads and open files exports may use. Payments use the same connections,
// and a read-only key must not be able to exhaust them. Each process has its own limits.
import { Injectable } from '@nestjs/common';
import { AppError } from '../platform/errors.js';

/** Concurrent reads of all accounts together. Further reads wait, in order of arrival. */
const maxReads = 2;
/** Open files of one account. */
const maxFiles = 4;
const retryAfterSeconds = 10;

@Injectable()
export class ReadingLimits {
  private reads = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly files = new Map<number, number>();

  /** Runs a read as soon as a slot is free. */
  async withReadSlot<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.reads < maxReads) this.reads += 1;
    else
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    try {
      return await read();
    } finally {
      // The slot passes to the read that has waited longest, before any new one.
      const next = this.waiting.shift();
      if (next) next();
      else this.reads -= 1;
    }
  }

  /**
   * Counts an open file of the account until the returned function is called. Throws `rate_limited`
   * if the account has too many.
   */
  beginFile(accountId: number): () => void {
    const open = this.files.get(accountId) ?? 0;
    if (open >= maxFiles)
      throw new AppError('rate_limited', {
        public: `An account can have at most ${maxFiles} open export files. Retry when one ends.`,
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    this.files.set(accountId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const remaining = (this.files.get(accountId) ?? 1) - 1;
      if (remaining > 0) this.files.set(accountId, remaining);
      else this.files.delete(accountId);
    };
  }
}
