// Refunds as business systems and people read them: the request, the bank's reports, and the
// statement lines matched to them.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Prisma, Refund } from '../../generated/service/client.js';
import {
  describeSentMoney,
  sentMoneyInOrder,
  totalOfSentMoney,
  type SentMoney,
} from '../operations/sent-money.js';
import {
  findByFirstId,
  idsAfter,
  isNsu,
  isUuid,
  toList,
  toTotal,
  type ListTotal,
  type Order,
  type Page,
} from '../../platform/http/listing.js';
import type { listRefundsRoute } from './refunds.schema.js';

type RefundFilters = Pick<RouteInput<typeof listRefundsRoute>['query'], 'state' | 'originalNsu'>;

@Injectable()
export class RefundViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a refund by its operation's id, the bank's id of the refund, or its nsu. Throws
   * `not_found`.
   */
  async get(accountId: number, id: string) {
    const filter = isUuid(id) ? { id } : isNsu(id) ? { nsu: BigInt(id) } : { endToEndId: id };
    const found = await findByFirstId([filter], (one) => this.read({ accountId, ...one }, 1));
    return describeRefund(found);
  }

  /** One page. */
  async list(accountId: number, page: Page, { state, originalNsu }: RefundFilters) {
    const where = { accountId, state, originalNsu, id: idsAfter(page) };
    const rows = await this.read(where, page.limit + 1, page.order);
    return toList(rows, page, ({ id }) => id, describeRefund);
  }

  async total(accountId: number, { state, originalNsu }: RefundFilters): Promise<ListTotal> {
    const counted = totalOfSentMoney({ accountId, state, originalNsu });
    const { _count: count, _sum } = await this.database.prisma.refund.aggregate(counted);
    return toTotal({ count, cents: _sum.amountCents });
  }

  private async read(where: Prisma.RefundWhereInput, take: number, order?: Order) {
    return this.database.prisma.refund.findMany(sentMoneyInOrder(where, take, order));
  }
}

function describeRefund<Row extends SentMoney & Pick<Refund, 'nsu'>>(refund: Row) {
  // The bank's response has the nsu, also while the statement does not show the refund.
  return { ...describeSentMoney(refund), nsu: refund.nsu };
}
