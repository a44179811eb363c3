// Payments of bills as business systems read them.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { listMatchedLines } from '../expected-payments/matched-lines.queries.js';
import { AppError } from '../platform/errors.js';
import { isUuid, type Page } from '../platform/listing.js';
import { findBarCode } from './bill-rules.js';
import * as queries from './bill-payment-reading.queries.js';
import { describePayment } from './bill-payments.schema.js';

@Injectable()
export class BillPaymentReading {
  constructor(private readonly database: Database) {}

  /** By its operation's id, the bank's id, or the bill's code: then the newest. Throws `not_found`. */
  async get(accountId: number, id: string) {
    const barCode = findBarCode(id);
    const ways: Partial<queries.PaymentFilters>[] = [
      ...(isUuid(id) ? [{ id }] : []),
      { bankId: id },
      ...(barCode ? [{ barCode }] : []),
    ];
    for (const way of ways) {
      const [payment] = await this.read(accountId, { ...way, before: null, limit: 1 });
      if (payment) return payment;
    }
    throw new AppError('not_found');
  }

  /** One more than the page's limit, where there are as many. */
  async list(
    accountId: number,
    page: Page,
    filters: Pick<queries.PaymentFilters, 'state' | 'barCode'>,
  ) {
    return this.read(accountId, { ...filters, before: page.after, limit: page.limit + 1 });
  }

  private async read(accountId: number, filters: queries.PaymentFilters) {
    const db = this.database.prisma;
    const rows = await queries.listPayments(db, accountId, filters);
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const byPayment = await listMatchedLines(db, accountId, ids);
    return rows.map((row) => describePayment(row, byPayment.get(row.expectedPaymentId) ?? []));
  }
}
