// Pages of operations, without their bodies.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { listMetadataOfOperations } from '../../statement/expected-payments/metadata.queries.js';
import { listExaminedIds, totalExamined } from '../../platform/http/examined-ids.queries.js';
import { toList, type ListTotal, type Page } from '../../platform/http/listing.js';
import { findOperations } from './operation-list.queries.js';
import type { listOperations } from './operations.schema.js';

type Query = RouteInput<typeof listOperations>['query'];

@Injectable()
export class OperationLists {
  constructor(private readonly database: Database) {}

  /** One page. */
  async list(accountId: number, page: Page, query: Query) {
    const { prisma } = this.database;
    const found = await findOperations(prisma, accountId, query);
    const { ids, lastExamined } = await listExaminedIds(prisma, accountId, found, page);
    const rows = await prisma.operation.findMany({
      where: { accountId, id: { in: ids } },
      omit: { requestParams: true, requestQuery: true, requestBody: true, responseBody: true },
      orderBy: { id: page.order ?? 'desc' },
    });
    const metadata = await listMetadataOfOperations(prisma, accountId, ids);
    const describe = (row: (typeof rows)[number]) => ({
      ...row,
      metadata: metadata.get(row.id) ?? null,
    });
    return toList({ rows, lastExamined }, page, ({ id }) => id, describe);
  }

  async total(accountId: number, query: Query): Promise<ListTotal> {
    const { prisma } = this.database;
    return totalExamined(prisma, accountId, await findOperations(prisma, accountId, query));
  }
}
