// Opens the bank: its own accounts, two customers and bills to pay, once in the life of a database.
import { Injectable } from '@nestjs/common';
import { BankClock } from '../clock/bank-clock.service.js';
import { openAccount, openInternalAccount } from '../ledger/opening.queries.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { SandboxSettings } from '../sandbox-settings.js';
import { fixtureAccounts, fixtureBills, internalAccounts, secondAccountKey } from './fixtures.js';
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
      if (!(await isBankOpen(tx))) {
        const now = this.clock.now();
        for (const account of internalAccounts) await openInternalAccount(tx, account, now);
        for (const account of fixtureAccounts) {
          await openAccount(tx, account, now);
          for (const dictKey of account.dictKeys) await addDictKey(tx, account.number, dictKey);
        }
        for (const bill of fixtureBills(this.clock.today())) await addBill(tx, bill);
      }
      const [first, second] = fixtureAccounts;
      await addApiKey(tx, first.number, sha256(this.settings.apiKey));
      await addApiKey(tx, second.number, sha256(secondAccountKey));
    });
  }
}
