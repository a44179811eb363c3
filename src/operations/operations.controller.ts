// The `/v1/operations` endpoints: read-only, each limited to the caller's account.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { Database } from '../database.service.js';
import { Handles } from '../platform/contract-route.js';
import { isUuid, readPage, readUuid, toList } from '../platform/listing.js';
import { describeOperation, getOperation, listOperations } from './operations.schema.js';
import { OperationsService } from './operations.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class OperationsController {
  constructor(
    private readonly operations: OperationsService,
    private readonly database: Database,
  ) {}

  @Handles(listOperations)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listOperations>) {
    const page = readPage(query, isUuid);
    const { state, kind, idempotencyKey } = query;
    const rows = await this.database.prisma.operation.findMany({
      where: {
        accountId,
        state,
        kind: kind || undefined,
        idempotencyKey: idempotencyKey || undefined,
        id: { lt: page.after ?? undefined },
      },
      omit: { requestParams: true, requestQuery: true, requestBody: true, responseBody: true },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id);
  }

  @Handles(getOperation)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getOperation>) {
    const operation = await this.operations.get(accountId, readUuid(params.id));
    const attemptLog = await this.database.prisma.operationAttempt.findMany({
      where: { accountId, operationId: operation.id },
      orderBy: { number: 'asc' },
    });
    return { ...operation, ...describeOperation(operation), attemptLog };
  }
}
