// Transfers as business systems read them: the request, the bank's reports, and the statement lines
// matched to them.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { listMatchedLines, type MatchedLine } from '../expected-payments/matched-lines.queries.js';
import { outgoingTotals } from '../expected-payments/outgoing-settlement.js';
import type { Prisma, Transfer } from '../generated/service/client.js';
import { acceptedResponse } from '../operations/operations.schema.js';
import { findByFirstId, isUuid, type Page } from '../platform/listing.js';
import { settlementOfTransfer } from './transfer-status.js';

const include = {
  operation: { select: { state: true, responseBody: true } },
  expectedPayment: { select: { withdrawnAt: true } },
} satisfies Prisma.TransferInclude;

type StoredTransfer = Prisma.TransferGetPayload<{ include: typeof include }>;
type TransferFilters = Partial<
  Pick<Transfer, 'state' | 'shape' | 'externalId' | 'endToEndId' | 'operationId'>
>;

@Injectable()
export class TransferViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a transfer by its own id (the operation's id for a single transfer), the bank's id, its
   * endToEndId or its externalId: of several with the same externalId, the newest. An externalId
   * may have the form of any other id. Throws `not_found`.
   */
  async get(accountId: number, id: string) {
    const ids = [
      ...(isUuid(id) ? [{ id }] : []),
      ...[{ bankId: id }, { endToEndId: id }, { externalId: id }],
    ];
    return findByFirstId(ids, (one) => this.read({ accountId, ...one }, 1));
  }

  /** Newest first; one row more than the page holds. */
  async list(accountId: number, { limit, after }: Page, filters: TransferFilters) {
    const { state, shape, externalId, endToEndId, operationId } = filters;
    const where = { accountId, state, shape, externalId, endToEndId, operationId };
    return this.read({ ...where, id: { lt: after ?? undefined } }, limit + 1);
  }

  private async read(where: Prisma.TransferWhereInput & { accountId: number }, take: number) {
    const { prisma } = this.database;
    const orderBy = { id: 'desc' } as const;
    const transfers = await prisma.transfer.findMany({ where, orderBy, take, include });
    const ids = transfers.map(({ expectedPaymentId }) => expectedPaymentId);
    const lines = await listMatchedLines(prisma, where.accountId, ids);
    return transfers.map((transfer) =>
      describeTransfer(transfer, lines.get(transfer.expectedPaymentId) ?? []),
    );
  }
}

function describeTransfer(
  { operation, expectedPayment, ...transfer }: StoredTransfer,
  lines: MatchedLine[],
) {
  const { payments, reversals, ...totals } = outgoingTotals(lines);
  const isWithdrawn = expectedPayment.withdrawnAt !== null;
  return {
    ...transfer,
    operationState: operation.state,
    amount: transfer.amountCents,
    settlement: settlementOfTransfer({ ...totals, isWithdrawn, state: transfer.state }),
    nsu: payments[0]?.nsu ?? null,
    reversals: reversals.map((line) => ({ ...line, amount: line.amountCents })),
    response: transfer.shape === 'batch' ? null : acceptedResponse(operation),
  };
}
