// Bill payments as business systems read them: the request, the bank's response, and the statement
// lines matched to it.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { listMatchedLines } from '../expected-payments/matched-lines.queries.js';
import { AppError } from '../platform/errors.js';
import { isUuid, type Page } from '../platform/listing.js';
import * as queries from './bill-payment-views.queries.js';
import { describeBillPayment } from './bill-payments.schema.js';
import { findBarCode } from './bill-rules.js';

@Injectable()
export class BillPaymentViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a payment by its operation's id, the bank's id, or the bill's code: the newest payment of
   * that bill. Throws `not_found`.
   */
  async get(accountId: number, id: string) {
    const barCode = findBarCode(id);
    const lookups: Partial<queries.BillPaymentFilters>[] = [
      ...(isUuid(id) ? [{ id }] : []),
      { bankId: id },
      ...(barCode ? [{ barCode }] : []),
    ];
    for (const lookup of lookups) {
      const [payment] = await this.read(accountId, { ...lookup, before: null, limit: 1 });
      if (payment) return payment;
    }
    throw new AppError('not_found');
  }

  /**
   * Lists up to one payment more than the page's limit: the extra payment shows that a next page
   * exists.
   */
  async list(
    accountId: number,
    page: Page,
    filters: Pick<queries.BillPaymentFilters, 'state' | 'barCode'>,
  ) {
    return this.read(accountId, { ...filters, before: page.after, limit: page.limit + 1 });
  }

  private async read(accountId: number, filters: queries.BillPaymentFilters) {
    const db = this.database.prisma;
    const rows = await queries.listBillPaymentRows(db, accountId, filters);
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const linesByPayment = await listMatchedLines(db, accountId, ids);
    return rows.map((row) =>
      describeBillPayment(row, linesByPayment.get(row.expectedPaymentId) ?? []),
    );
  }
}
