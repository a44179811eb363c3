// Limits how many database reads and open files exports may use. Payments use the same connections,
// and a read-only key must not be able to exhaust them. Each process has its own limits.
import { Injectable } from '@nestjs/common';
import { openLimits } from '../../platform/limits/limits.js';
import { OpenCounts } from '../../platform/limits/memory-limits.js';
import { Slots } from '../../platform/slots.js';

@Injectable()
export class ReadingLimits {
  /** Concurrent reads of all accounts together. */
  private readonly reads = new Slots(2);
  private readonly files = new OpenCounts<number>(openLimits.exportFiles);

  /** Runs a read as soon as a slot is free. */
  async withReadSlot<Result>(read: () => Promise<Result>): Promise<Result> {
    return this.reads.run(read);
  }

  /**
   * Counts an open file of the account until the returned function is called. Throws `rate_limited`
   * if the account has too many.
   */
  beginFile(accountId: number): () => void {
    return this.files.begin(accountId);
  }
}
