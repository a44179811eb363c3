// Reads of the control plane: the ledger with its audit, and the fixtures.
import type { RouteInput } from '../../bank-contract/route.js';
import type { readSandboxLedger } from './control.schema.js';
import { Injectable } from '@nestjs/common';
import { Accounts, FirstAccounts } from '../accounts/accounts.service.js';
import { auditLedger } from '../ledger/audit.queries.js';
import { listCustomerBalances, listPostedLines } from '../ledger/ledger.queries.js';
import type { Bill } from '../../generated/sandbox/client.js';
import { listDictKeys } from '../accounts/accounts.queries.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { movementOfLine } from '../ledger/posted-movement.js';

/** The most movements in one response; `after` reads the next page. */
const maxMovements = 100_000;

@Injectable()
export class BankInspection {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly firstAccounts: FirstAccounts,
  ) {}

  /**
   * Accounts, movements and audit of one snapshot. The audit always covers the whole ledger;
   * callers that page through a large ledger send `audit=false`.
   */
  async readSandboxLedger(query: RouteInput<typeof readSandboxLedger>['query']) {
    const account = query.account ?? null;
    if (account !== null) await this.accounts.getByNumber(account);
    return this.database.snapshot(async (tx) => {
      const accounts = await listCustomerBalances(tx, account);
      const lines = await listPostedLines(tx, {
        account,
        afterNsu: query.after ?? 0n,
        limit: query.limit ?? maxMovements,
      });
      const problems = query.audit === false ? null : await auditLedger(tx);
      return {
        accounts,
        movements: lines.map(movementOfLine),
        ...(problems ? { audit: { clean: problems.length === 0, problems } } : {}),
      };
    });
  }

  async readFixtures() {
    const dictKeys = await listDictKeys(this.database);
    const bills = await this.database.list<Bill>('bill', {}, 'type, bar_code');
    return {
      accounts: this.firstAccounts.all.map(({ apiKey: key, ...account }) => ({ ...account, key })),
      dictKeys,
      bills: bills.map((bill) => ({ ...bill, amount: bill.amountCents })),
    };
  }
}
