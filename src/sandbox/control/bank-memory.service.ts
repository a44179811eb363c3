// What the process remembers of the bank beside its tables.
import { Injectable } from '@nestjs/common';
import { Accounts } from '../accounts/accounts.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { Modes } from '../modes/modes.service.js';

@Injectable()
export class BankMemory {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly faults: Faults,
    private readonly accounts: Accounts,
  ) {}

  /** As a process that has just started on an empty database. */
  forget(): void {
    this.clock.restart();
    this.modes.restoreDefaults();
    this.faults.clear();
    this.accounts.forget();
  }
}
