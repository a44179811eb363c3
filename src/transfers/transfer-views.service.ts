// Transfers as they are read: what was asked, what the bank told, and what its statement shows.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { listMatchedLines, type MatchedLine } from '../expected-payments/matched-lines.queries.js';
import { totalsOfSent } from '../expected-payments/sent-settlement.js';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { isUuid, type Page } from '../platform/listing.js';
import { settlementOf } from './settlement.js';
import * as queries from './transfer-views.queries.js';

@Injectable()
export class TransferViews {
  constructor(private readonly database: Database) {}

  /** By our id, which is its operation's for a single one, the bank's, its endToEndId or its externalId. */
  async get(accountId: number, id: string) {
    const { prisma } = this.database;
    const uuid = isUuid(id) ? id : null;
    const found = await queries.findTransferId(prisma, accountId, { id, uuid });
    if (found === null) throw new AppError('not_found');
    const filters = { ids: [found], before: null, limit: 1 };
    const rows = await queries.listTransfers(prisma, accountId, filters);
    const [transfer] = await this.withLines(accountId, rows);
    if (!transfer) throw new AppError('not_found');
    return transfer;
  }

  /** One more than the page's limit, where there are as many. */
  async list(
    accountId: number,
    page: Page,
    filters: Omit<queries.TransferFilters, 'before' | 'limit'>,
  ) {
    const rows = await queries.listTransfers(this.database.prisma, accountId, {
      ...filters,
      before: page.after,
      limit: page.limit + 1,
    });
    return this.withLines(accountId, rows);
  }

  private async withLines(accountId: number, rows: queries.TransferRow[]) {
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const byPayment = await listMatchedLines(this.database.prisma, accountId, ids);
    return rows.map((row) => describeTransfer(row, byPayment.get(row.expectedPaymentId) ?? []));
  }
}

function describeTransfer(row: queries.TransferRow, lines: MatchedLine[]) {
  const { amountCents, isWithdrawn, answer, createdAt, updatedAt, ...told } = row;
  const { payments, returns, paidCents, returnedCents } = totalsOfSent(lines);
  return {
    ...told,
    amount: amountCents,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    settlement: settlementOf({ state: row.state, isWithdrawn, paidCents, returnedCents }),
    nsu: payments[0]?.nsu ?? null,
    returns: returns.map((line) => ({
      nsu: line.nsu,
      amount: line.amountCents,
      endToEndId: line.endToEndId,
      occurredAt: line.occurredAt.toISOString(),
    })),
    response: answer === null ? null : parseJson(answer),
  };
}
