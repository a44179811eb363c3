// Seeds a new database: internal accounts, two customers, DICT keys and bills.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { Account } from '../../generated/sandbox/client.js';
import { invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { findAccountByNumber } from '../accounts/accounts.queries.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { openAccount } from '../ledger/opening.queries.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { FirstAccounts } from '../accounts/accounts.service.js';
import { internalAccounts, outsideDictKeys } from '../accounts/fixtures.js';
import { fixtureBills } from '../bills/fixture-bills.js';

@Injectable()
export class BankSeeding {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly firstAccounts: FirstAccounts,
  ) {}

  /**
   * Seeds a new bank. On an existing one it only adds the API keys, since a setting may have
   * changed.
   */
  async seedBank(): Promise<void> {
    await this.database.transaction(async (tx) => {
      // Two processes may start on the same new database.
      await tx.lockAdvisory('openSandboxAccounts');
      if (!(await tx.findRow<Account>('account', { kind: 'internal' })))
        await this.seedAccounts(tx, this.clock.now());
      // An earlier version may have had fewer.
      else await this.openFirstAccounts(tx, this.clock.now());
      await this.insertApiKeys(tx);
    });
  }

  /** Seeds tables that `tx` has emptied, at the time that the clock shows after the reset. */
  async seedEmptyBank(tx: SandboxTx): Promise<void> {
    await this.seedAccounts(tx, this.clock.timeAfterReset());
    await this.insertApiKeys(tx);
  }

  private async seedAccounts(tx: SandboxTx, now: Date): Promise<void> {
    // The bank stores no balance for its own accounts.
    const internal = { kind: 'internal', branch: '0000', holderDocument: '', holderType: 'LEGAL' };
    await tx.insertAll(
      'account',
      internalAccounts.map((account) => ({ ...internal, ...account, createdAt: now })),
    );
    await this.openFirstAccounts(tx, now);
    await tx.insertAll('dict_key', outsideDictKeys);
    // Their JSON has exact numbers, so each is a statement.
    for (const bill of fixtureBills(saoPauloDay(now))) await tx.insert('bill', bill);
  }

  /** Those that are not there yet. */
  private async openFirstAccounts(tx: SandboxTx, now: Date): Promise<void> {
    for (const { dictKeys, apiKey: _, ...opening } of this.firstAccounts.all) {
      if (await findAccountByNumber(tx, opening.number)) continue;
      const accountId = await openAccount(tx, opening, now);
      await tx.insertAll(
        'dict_key',
        dictKeys.map((key) => ({ ...key, accountId })),
      );
    }
  }

  private async insertApiKeys(tx: SandboxTx): Promise<void> {
    for (const { apiKey, number } of this.firstAccounts.all) {
      const account = await findAccountByNumber(tx, number);
      invariant(account, 'the first accounts are seeded');
      const row = { keyHash: sha256(apiKey), accountId: account.id };
      await tx.insert('api_key', row, 'ON CONFLICT (key_hash) DO NOTHING');
    }
  }
}
