// Reads of the control plane: the ledger with its audit, and the fixtures.
import type { RouteInput } from '../../bank-contract/route.js';
import type { readSandboxLedger } from './control.schema.js';
import { Injectable } from '@nestjs/common';
import { Accounts } from '../accounts/accounts.service.js';
import { fixtureAccounts, furtherAccountKeys } from '../accounts/fixtures.js';
import { auditLedger } from '../ledger/audit.queries.js';
import { listCustomerBalances, listPostedLines } from '../ledger/ledger.queries.js';
import type { Party } from '../accounts/party.js';
import { SandboxDatabase, SandboxSettings } from '../sandbox-database.service.js';
import { movementOfLine } from '../ledger/posted-movement.js';

/** The most movements in one response; `after` reads the next page. */
const maxMovements = 100_000;

@Injectable()
export class BankInspection {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly settings: SandboxSettings,
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
    const keys = [this.settings.apiKey, ...furtherAccountKeys];
    const { prisma } = this.database;
    const dictKeys = await prisma.dictKey.findMany({
      include: { account: true },
      orderBy: [{ accountId: 'asc' }, { kind: 'asc' }, { key: 'asc' }],
    });
    const bills = await prisma.bill.findMany({ orderBy: [{ type: 'asc' }, { barCode: 'asc' }] });
    return {
      accounts: fixtureAccounts.map(({ branch, number }, index) => ({
        branch,
        number,
        key: keys[index] ?? '',
      })),
      dictKeys: dictKeys.map(({ key, account, party }) => ({
        key,
        holder: account
          ? { name: account.holderName, document: account.holderDocument }
          : (party as unknown as Party).holder,
      })),
      bills: bills.map((bill) => ({ ...bill, amount: bill.amountCents })),
    };
  }
}
