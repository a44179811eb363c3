// Pages of operations, without their bodies.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { listMetadataOfOperations } from '../../statement/expected-payments/metadata.queries.js';
import { toList, type Page } from '../../platform/http/listing.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import { listOperationIds } from './operation-list.queries.js';
import type { listOperations } from './operations.schema.js';

@Injectable()
export class OperationLists {
  constructor(
    private readonly database: Database,
    private readonly outcomes: OperationOutcomes,
  ) {}

  /** One page, newest first. Throws `validation_failed` for a kind that does not exist. */
  async list(accountId: number, page: Page, query: RouteInput<typeof listOperations>['query']) {
    this.outcomes.assertKnown(query.kind);
    const { prisma } = this.database;
    const { ids, lastExamined } = await listOperationIds(prisma, accountId, query, page);
    const rows = await prisma.operation.findMany({
      where: { accountId, id: { in: ids } },
      omit: { requestParams: true, requestQuery: true, requestBody: true, responseBody: true },
      orderBy: { id: 'desc' },
    });
    const metadata = await listMetadataOfOperations(prisma, accountId, ids);
    const describe = (row: (typeof rows)[number]) => ({
      ...row,
      metadata: metadata.get(row.id) ?? null,
    });
    return toList({ rows, lastExamined }, page, ({ id }) => id, describe);
  }
}
