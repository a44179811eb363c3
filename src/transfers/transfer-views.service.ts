// Transfers as business systems read them: the request, the bank's reports, and the statement lines
// matched to them.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import type { Prisma, Transfer } from '../generated/service/client.js';
import { describeSentMoney, newestSentMoney } from '../operations/sent-money.js';
import { findByFirstId, isUuid, type Page } from '../platform/listing.js';

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

  private async read(where: Prisma.TransferWhereInput, take: number) {
    const transfers = await this.database.prisma.transfer.findMany(newestSentMoney(where, take));
    return transfers.map((transfer) => {
      const { state, shape } = transfer;
      const view = describeSentMoney(transfer, state === 'failed' || state === 'rejected');
      return { ...view, response: shape === 'batch' ? null : view.response };
    });
  }
}
