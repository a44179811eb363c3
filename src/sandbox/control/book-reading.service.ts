// What a test may see of the bank: its book with an audit, and its fixtures.
import type { RouteInput } from '../../contract/route.js';
import type { readLedger } from './control.schema.js';
import { Injectable } from '@nestjs/common';
import { Accounts } from '../accounts/accounts.service.js';
import { fixtureAccounts, secondAccountKey } from '../accounts/fixtures.js';
import { auditLedger } from '../ledger/audit.queries.js';
import { listCustomerBalances, listLedgerMovements } from '../ledger/ledger.queries.js';
import type { Party } from '../accounts/party.js';
import { SandboxDatabase, SandboxSettings } from '../sandbox-database.service.js';
import { movementOfRow } from '../ledger/posted-movement.js';

/** What one answer can hold; the rest is asked for with `after`. */
const maxMovements = 100_000;

@Injectable()
export class BookReading {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly settings: SandboxSettings,
  ) {}

  /**
   * Accounts, movements and audit of one moment. The audit is of the whole book, whatever is asked for, which is why
   * who pages through a large one leaves it out.
   */
  async readLedger(query: RouteInput<typeof readLedger>['query']) {
    const account = query.account ?? null;
    if (account !== null) await this.accounts.getByNumber(account);
    return this.database.snapshot(async (tx) => {
      const balances = await listCustomerBalances(tx, account);
      const movements = await listLedgerMovements(tx, {
        account,
        afterNsu: query.after ?? 0n,
        limit: query.limit ?? maxMovements,
      });
      const problems = query.audit === false ? null : await auditLedger(tx);
      return {
        accounts: balances.map(({ branch, number, balance_cents: balance }) => ({
          branch,
          number,
          balance,
        })),
        movements: movements.map(movementOfRow),
        ...(problems ? { audit: { clean: problems.length === 0, problems } } : {}),
      };
    });
  }

  async readFixtures() {
    const [first, second] = fixtureAccounts;
    const { prisma } = this.database;
    const dictKeys = await prisma.dictKey.findMany({
      include: { account: true },
      orderBy: [{ accountId: 'asc' }, { kind: 'asc' }, { key: 'asc' }],
    });
    const bills = await prisma.bill.findMany({ orderBy: [{ type: 'asc' }, { barCode: 'asc' }] });
    return {
      accounts: [
        { branch: first.branch, number: first.number, key: this.settings.apiKey },
        { branch: second.branch, number: second.number, key: secondAccountKey },
      ],
      dictKeys: dictKeys.map(({ key, account, party }) => ({
        key,
        holder: account
          ? { name: account.holderName, document: account.holderDocument }
          : (party as unknown as Party).holder,
      })),
      bills: bills.map((bill) => ({
        barCode: bill.barCode,
        digitableLine: bill.digitableLine,
        type: bill.type,
        status: bill.status,
        amount: bill.amountCents,
      })),
    };
  }
}
