// Transfers as business systems read them: the request, the bank's reports, and the statement lines
// matched to them.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import type { Prisma, Transfer } from '../../generated/service/client.js';
import { describeSentMoney, sentMoneyInOrder, type SentMoney } from '../operations/sent-money.js';
import { listExaminedIds, totalExamined } from '../../platform/http/examined-ids.queries.js';
import {
  findByFirstId,
  isUuid,
  toList,
  type ListTotal,
  type Order,
  type Page,
} from '../../platform/http/listing.js';
import {
  findIdsByEndToEndId,
  findTransfers,
  type TransferFilters,
} from './transfer-list.queries.js';

@Injectable()
export class TransferViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a transfer by its own id (the operation's id for a single transfer), the bank's id, its
   * endToEndId or its externalId: of several with the same externalId, the newest. An externalId
   * may have the form of any other id. Throws `not_found`.
   */
  async get(accountId: number, id: string) {
    const byEndToEndId = await findIdsByEndToEndId(this.database.prisma, accountId, id);
    const ids = [
      ...(isUuid(id) ? [{ id }] : []),
      ...[{ bankId: id }, { id: { in: byEndToEndId } }, { externalId: id }],
    ];
    return describeTransfer(await findByFirstId(ids, (one) => this.read({ accountId, ...one }, 1)));
  }

  /** One page. */
  async list(accountId: number, page: Page, filters: TransferFilters) {
    const { prisma } = this.database;
    const found = await findTransfers(prisma, accountId, filters);
    const { ids, lastExamined } = await listExaminedIds(prisma, accountId, found, page);
    const rows = await this.read({ accountId, id: { in: ids } }, page.limit + 1, page.order);
    return toList({ rows, lastExamined }, page, ({ id }) => id, describeTransfer);
  }

  async total(accountId: number, filters: TransferFilters): Promise<ListTotal> {
    const { prisma } = this.database;
    return totalExamined(prisma, accountId, await findTransfers(prisma, accountId, filters));
  }

  private async read(where: Prisma.TransferWhereInput, take: number, order?: Order) {
    return this.database.prisma.transfer.findMany(sentMoneyInOrder(where, take, order));
  }
}

function describeTransfer<Row extends SentMoney & Pick<Transfer, 'state' | 'shape'>>(
  transfer: Row,
) {
  const { state, shape, operation } = transfer;
  // The response to a batch is that of all its transfers.
  const responseBody = shape === 'batch' ? null : operation.responseBody;
  const own = { ...transfer, operation: { ...operation, responseBody } };
  return describeSentMoney(own, state === 'failed' || state === 'rejected');
}
