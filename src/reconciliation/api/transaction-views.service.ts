// Statement lines as business systems and people read them: each with its counterparty, as its
// reader may see it, and its explanation.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  counterpartyIn,
  findCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
  shownResponse,
} from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { isNsu, readPage, toList, type ListTotal } from '../../platform/http/listing.js';
import { listTransactionRows, totalTransactions } from './transactions.queries.js';
import type { listTransactionsOfBook } from './transactions.schema.js';

type Query = RouteInput<typeof listTransactionsOfBook>['query'];

@Injectable()
export class TransactionViews {
  constructor(private readonly database: Database) {}

  async total({ accountId }: Pick<Caller, 'accountId'>, query: Query): Promise<ListTotal> {
    return totalTransactions(this.database.prisma, accountId, query);
  }

  /** One page. */
  async list({ accountId, scopes }: Pick<Caller, 'accountId' | 'scopes'>, query: Query) {
    const page = readPage(query, isNsu);
    const { prisma } = this.database;
    const afterNsu = page.after === null ? null : BigInt(page.after);
    const filters = { ...query, afterNsu, limit: page.limit + 1 };
    const found = await listTransactionRows(prisma, accountId, filters);
    const nsus = found.rows.map(({ nsu }) => nsu);
    const counterparties = await findCounterparties(prisma, accountId, nsus);
    const isVisible = seesPersonalData(scopes);
    return toList(
      { rows: found.rows, lastExamined: found.lastExamined?.toString() ?? null },
      page,
      (row) => row.nsu.toString(),
      (row) => ({
        ...row,
        amount: row.amountCents,
        // Banks write the payer's name and message into the notes.
        notes: isVisible ? row.notes : null,
        counterparty: shownCounterparty(counterpartyIn(counterparties, row.nsu), isVisible),
        type: { name: row.typeName, isCredit: row.isCredit },
        balance: {
          balancePrevious: row.balancePreviousCents,
          currentBalance: row.currentBalanceCents,
        },
        explanation: {
          ...row,
          evidence: shownResponse(row.evidence, scopes),
          breakEvidence: shownResponse(row.breakEvidence, scopes),
        },
      }),
    );
  }
}
