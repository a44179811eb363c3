// Opens the bank: its own accounts, two customers and bills to pay, once in the life of a database.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { openAccount, openInternalAccount } from '../ledger/opening.queries.js';
import { SandboxDatabase, SandboxSettings, type Tx } from '../sandbox-database.service.js';
import {
  fixtureAccounts,
  fixtureBills,
  internalAccounts,
  secondAccountKey,
} from '../accounts/fixtures.js';
import { sha256 } from '../../platform/exact-json.js';
import { addApiKey, addBill, addDictKey, isBankOpen, lockOpening } from './seeding.queries.js';

@Injectable()
export class Seeding {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly settings: SandboxSettings,
  ) {}

  /** Does nothing on a bank that is open, save that the first account's key of today is made to work. */
  async openBank(): Promise<void> {
    await this.database.transaction(async (tx) => {
      // Two processes may start on one new database.
      await lockOpening(tx);
      if (!(await isBankOpen(tx))) await this.openAccounts(tx, this.clock.now());
      await this.giveKeys(tx);
    });
  }

  /** In tables that `tx` has emptied; timed by the clock that a new bank has. */
  async openEmptyBank(tx: Tx): Promise<void> {
    await this.openAccounts(tx, this.clock.timeOfRestart());
    await this.giveKeys(tx);
  }

  private async openAccounts(tx: Tx, now: Date): Promise<void> {
    for (const account of internalAccounts) await openInternalAccount(tx, account, now);
    for (const account of fixtureAccounts) {
      await openAccount(tx, account, now);
      for (const dictKey of account.dictKeys) await addDictKey(tx, account.number, dictKey);
    }
    for (const bill of fixtureBills(saoPauloDay(now))) await addBill(tx, bill);
  }

  private async giveKeys(tx: Tx): Promise<void> {
    const [first, second] = fixtureAccounts;
    await addApiKey(tx, first.number, sha256(this.settings.apiKey));
    await addApiKey(tx, second.number, sha256(secondAccountKey));
  }
}
