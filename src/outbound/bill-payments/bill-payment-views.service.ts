// Bill payments as business systems and people read them: the request, the bank's reports, and the
// statement lines matched to them.
import { Injectable } from '@nestjs/common';
import { findBarCode } from '../../brazil/bill-code.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { BillPayment, Prisma } from '../../generated/service/client.js';
import {
  describeSentMoney,
  sentMoneyInOrder,
  totalOfSentMoney,
  type SentMoney,
} from '../operations/sent-money.js';
import {
  findByFirstId,
  idsAfter,
  isUuid,
  toList,
  toTotal,
  type ListTotal,
  type Order,
  type Page,
} from '../../platform/http/listing.js';
import type { listBillPaymentsRoute } from './bill-payments.schema.js';

type BillFilters = Pick<RouteInput<typeof listBillPaymentsRoute>['query'], 'state' | 'barCode'>;

@Injectable()
export class BillPaymentViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a payment by its operation's id, the bank's id, or the bill's code: the newest of it.
   * Throws `not_found`.
   */
  async get(accountId: number, id: string) {
    const barCode = findBarCode(id);
    const ids = [
      ...(isUuid(id) ? [{ id }] : []),
      { bankId: id },
      ...(barCode ? [{ barCode }] : []),
    ];
    return describePayment(await findByFirstId(ids, (one) => this.read({ accountId, ...one }, 1)));
  }

  /** One page. */
  async list(accountId: number, page: Page, { state, barCode }: BillFilters) {
    const where = { accountId, state, barCode, id: idsAfter(page) };
    const rows = await this.read(where, page.limit + 1, page.order);
    return toList(rows, page, ({ id }) => id, describePayment);
  }

  async total(accountId: number, { state, barCode }: BillFilters): Promise<ListTotal> {
    const counted = totalOfSentMoney({ accountId, state, barCode });
    const { _count: count, _sum } = await this.database.prisma.billPayment.aggregate(counted);
    return toTotal({ count, cents: _sum.amountCents });
  }

  private async read(where: Prisma.BillPaymentWhereInput, take: number, order?: Order) {
    return this.database.prisma.billPayment.findMany(sentMoneyInOrder(where, take, order));
  }
}

function describePayment<Row extends SentMoney & Pick<BillPayment, 'state'>>(payment: Row) {
  const view = describeSentMoney(payment);
  // The failure was proven by a statement that did not show the debit yet.
  const isPaid = payment.state === 'failed' && view.nsu !== null;
  return isPaid ? { ...view, state: 'paid' as const } : view;
}
