// When the statement begins to tell a line: at once, or later where a mode or a fault has it so. The line's place in
// the book, its time and its balances are those of its movement all the same.
import { Injectable } from '@nestjs/common';
import { Faults } from '../faults/faults.service.js';
import { Modes } from '../modes/modes.service.js';
import { endpointsOfType } from './transaction-types.js';

const outOfOrderMs = 2_000;

@Injectable()
export class LineVisibility {
  constructor(
    private readonly modes: Modes,
    private readonly faults: Faults,
  ) {}

  /** Null is at once. */
  visibleAt(nsu: bigint, typeName: string, createdAt: Date): Date | null {
    const fault = this.faults.take(['transactions', ...endpointsOfType(typeName)], 'line-withheld');
    const isOutOfOrder = this.modes.current.nsuVisibility === 'out-of-order' && nsu % 3n === 0n;
    const delayMs = fault?.delayMs ?? (isOutOfOrder ? outOfOrderMs : 0);
    return delayMs > 0 ? new Date(createdAt.getTime() + delayMs) : null;
  }
}
