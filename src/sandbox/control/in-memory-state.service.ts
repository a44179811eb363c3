// The bank's state that the process holds in memory, outside its tables.
import { Injectable } from '@nestjs/common';
import { Accounts } from '../accounts/accounts.service.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { faultsOfHabits, modesOfHabits } from '../imitation/imitated-bank.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxSettings } from '../sandbox-database.service.js';

@Injectable()
export class InMemoryState {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly faults: Faults,
    private readonly accounts: Accounts,
    private readonly settings: SandboxSettings,
  ) {}

  /** Restores the state of a process that has just started on an empty database. */
  reset(): void {
    this.clock.reset();
    this.modes.restoreDefaults();
    this.faults.clear();
    this.accounts.clearCache();
    this.imitate();
  }

  /** At a start, over the stored modes. */
  imitate(): void {
    const { habits } = this.settings;
    if (!habits) return;
    this.modes.override(modesOfHabits(habits));
    for (const fault of faultsOfHabits(habits)) this.faults.add(fault);
  }
}
