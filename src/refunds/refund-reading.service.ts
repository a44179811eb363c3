// Refunds as business systems read them.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { isNsu, isUuid, type Page } from '../platform/listing.js';
import * as queries from './refunds.queries.js';
import { describeRefund } from './refunds.schema.js';

@Injectable()
export class RefundReading {
  constructor(private readonly database: Database) {}

  /** By its operation's id, the bank's id of the return, or its nsu. Throws `not_found`. */
  async get(accountId: number, id: string) {
    const way = isUuid(id) ? { id } : isNsu(id) ? { nsu: BigInt(id) } : { endToEndId: id };
    const [refund] = await this.read(accountId, { ...way, before: null, limit: 1 });
    if (!refund) throw new AppError('not_found');
    return refund;
  }

  /** One more than the page's limit, where there are as many. */
  async list(
    accountId: number,
    page: Page,
    filters: Pick<queries.RefundFilters, 'state' | 'originalNsu'>,
  ) {
    return this.read(accountId, { ...filters, before: page.after, limit: page.limit + 1 });
  }

  private async read(accountId: number, filters: queries.RefundFilters) {
    const rows = await queries.listRefunds(this.database.prisma, accountId, filters);
    return rows.map(describeRefund);
  }
}
