// The `/v1/operations` endpoints: read-only, each limited to the caller's account.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { Database } from '../database.service.js';
import {
  listMetadataOfOperations,
  metadataTooCommon,
} from '../expected-payments/metadata.queries.js';
import { Handles } from '../platform/contract-route.js';
import { Responds } from '../platform/responses.decorator.js';
import { isUuid, readPage, readUuid, toList } from '../platform/listing.js';
import { OperationDetails } from './operation-details.service.js';
import { listOperationIds } from './operation-list.queries.js';
import { getOperation, listOperations } from './operations.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class OperationsController {
  constructor(
    private readonly details: OperationDetails,
    private readonly database: Database,
  ) {}

  @Responds(metadataTooCommon)
  @Handles(listOperations)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listOperations>) {
    const page = readPage(query, isUuid);
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

  @Handles(getOperation)
  async get(@FromCaller() request: CallerInput<typeof getOperation>) {
    return this.details.get(request, readUuid(request.params.id));
  }
}
