// Refunds as business systems read them, by id or as a list.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { isNsu, isUuid, type Page } from '../platform/listing.js';
import * as queries from './refunds.queries.js';
import { toRefundView } from './refunds.schema.js';

@Injectable()
export class RefundReading {
  constructor(private readonly database: Database) {}

  /**
   * Finds a refund by its operation's id, the bank's id of the refund, or its nsu. Throws
   * `not_found`.
   */
  async get(accountId: number, id: string) {
    const filter = isUuid(id) ? { id } : isNsu(id) ? { nsu: BigInt(id) } : { endToEndId: id };
    const [refund] = await this.read(accountId, { ...filter, before: null, limit: 1 });
    if (!refund) throw new AppError('not_found');
    return refund;
  }

  /**
   * Lists up to one refund more than the page's limit: the extra refund shows that there is a next
   * page.
   */
  async list(
    accountId: number,
    page: Page,
    filters: Pick<queries.RefundFilters, 'state' | 'originalNsu'>,
  ) {
    return this.read(accountId, { ...filters, before: page.after, limit: page.limit + 1 });
  }

  private async read(accountId: number, filters: queries.RefundFilters) {
    const rows = await queries.listRefunds(this.database.prisma, accountId, filters);
    return rows.map(toRefundView);
  }
}
