// Transfers as business systems read them: the request, the bank's reports, and the statement lines
// matched to them.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { listMatchedLines, type MatchedLine } from '../expected-payments/matched-lines.queries.js';
import { outgoingTotals } from '../expected-payments/outgoing-settlement.js';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { isUuid, type Page } from '../platform/listing.js';
import { settlementOfTransfer } from './transfer-status.js';
import * as queries from './transfer-views.queries.js';

@Injectable()
export class TransferViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a transfer by its own id (the operation's id for a single transfer), the bank's id, its
   * endToEndId or its externalId. Throws `not_found`.
   */
  async get(accountId: number, id: string) {
    const { prisma } = this.database;
    const uuid = isUuid(id) ? id : null;
    const transferId = await queries.findTransferId(prisma, accountId, { id, uuid });
    if (transferId === null) throw new AppError('not_found');
    const filters = { ids: [transferId], before: null, limit: 1 };
    const rows = await queries.listTransferRows(prisma, accountId, filters);
    const [transfer] = await this.withLines(accountId, rows);
    if (!transfer) throw new AppError('not_found');
    return transfer;
  }

  /**
   * Lists up to one transfer more than the page's limit: the extra transfer shows that a next page
   * exists.
   */
  async list(
    accountId: number,
    page: Page,
    filters: Omit<queries.TransferFilters, 'before' | 'limit'>,
  ) {
    const rows = await queries.listTransferRows(this.database.prisma, accountId, {
      ...filters,
      before: page.after,
      limit: page.limit + 1,
    });
    return this.withLines(accountId, rows);
  }

  private async withLines(accountId: number, rows: queries.TransferRow[]) {
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const linesByPayment = await listMatchedLines(this.database.prisma, accountId, ids);
    return rows.map((row) =>
      describeTransfer(row, linesByPayment.get(row.expectedPaymentId) ?? []),
    );
  }
}

function describeTransfer(row: queries.TransferRow, lines: MatchedLine[]) {
  const { amountCents, isWithdrawn, responseBody, createdAt, updatedAt, ...fields } = row;
  const { payments, reversals, paidCents, reversedCents } = outgoingTotals(lines);
  return {
    ...fields,
    amount: amountCents,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    settlement: settlementOfTransfer({ state: row.state, isWithdrawn, paidCents, reversedCents }),
    nsu: payments[0]?.nsu ?? null,
    reversals: reversals.map((line) => ({
      nsu: line.nsu,
      amount: line.amountCents,
      endToEndId: line.endToEndId,
      occurredAt: line.occurredAt.toISOString(),
    })),
    response: responseBody === null ? null : parseJson(responseBody),
  };
}
