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
import { isNsu, readPage, toList } from '../../platform/http/listing.js';
import { listTransactionRows } from './transactions.queries.js';
import type { listTransactionsOfBook } from './transactions.schema.js';

@Injectable()
export class TransactionViews {
  constructor(private readonly database: Database) {}

  /** One page, newest first. */
  async list(
    { accountId, scopes }: Pick<Caller, 'accountId' | 'scopes'>,
    query: RouteInput<typeof listTransactionsOfBook>['query'],
  ) {
    const page = readPage(query, isNsu);
    const { prisma } = this.database;
    const beforeNsu = page.after === null ? null : BigInt(page.after);
    const filters = { ...query, beforeNsu, limit: page.limit + 1 };
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
