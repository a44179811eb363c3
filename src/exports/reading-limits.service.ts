// How much of the database files may take: money moves on the same connections, and whoever may only read must not
// be able to fill them. Each process keeps its own.
import { Injectable } from '@nestjs/common';
import { AppError } from '../platform/errors.js';

/** Readings at once, of all accounts together; the others wait in the order in which they came. */
const mostReadings = 2;
/** Files of one account that are being written at once. */
const mostFiles = 4;
const retryAfterSeconds = 10;

@Injectable()
export class ReadingLimits {
  private readings = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly files = new Map<number, number>();

  /** Reads when its turn has come. */
  async inTurn<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.readings < mostReadings) this.readings += 1;
    else
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    try {
      return await read();
    } finally {
      // The place goes to who waits longest, before anybody who comes now.
      const next = this.waiting.shift();
      if (next) next();
      else this.readings -= 1;
    }
  }

  /** Counts a file of the account until what is returned is called. Throws `rate_limited` where it has too many. */
  beginFile(accountId: number): () => void {
    const open = this.files.get(accountId) ?? 0;
    if (open >= mostFiles)
      throw new AppError('rate_limited', {
        public: `${mostFiles} files of this account are being written: ask again when one is done.`,
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    this.files.set(accountId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.files.get(accountId) ?? 1) - 1;
      if (left > 0) this.files.set(accountId, left);
      else this.files.delete(accountId);
    };
  }
}
