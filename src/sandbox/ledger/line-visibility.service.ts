// Decides when the statement begins to show a line: at once, or later because of a mode or a fault.
// A delay changes nothing else: the line has the nsu, the time and the balances of its movement.
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

  /** The bank's time from which the statement shows the line; null for at once. */
  visibleAt(nsu: bigint, typeName: string, createdAt: Date): Date | null {
    const fault = this.faults.fire(['transactions', ...endpointsOfType(typeName)], 'line-withheld');
    const isOutOfOrder = this.modes.current.nsuVisibility === 'out-of-order' && nsu % 3n === 0n;
    const delayMs = fault?.delayMs ?? (isOutOfOrder ? outOfOrderMs : 0);
    return delayMs > 0 ? new Date(createdAt.getTime() + delayMs) : null;
  }
}
