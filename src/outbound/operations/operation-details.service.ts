// One operation as it is shown alone: with its attempts, and how its approvals stand.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { shownPayee, shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { listMetadataOfOperations } from '../../statement/expected-payments/metadata.queries.js';
import { Approvals } from './approvals.service.js';
import { describeOperation, type getOperation } from './operations.schema.js';
import { OperationsService } from './operations.service.js';

@Injectable()
export class OperationDetails {
  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly approvals: Approvals,
  ) {}

  /**
   * Who approves sees whom the money goes to, also without the scope `personal-data`. Throws
   * `not_found`, also for an operation of another account.
   */
  async get(
    { accountId, scopes }: Pick<Caller, 'accountId' | 'scopes'>,
    id: string,
  ): Promise<RouteOutput<typeof getOperation>> {
    const operation = await this.operations.get(accountId, id);
    const { prisma } = this.database;
    const found = await listMetadataOfOperations(prisma, accountId, [operation.id]);
    const metadata = found.get(operation.id) ?? null;
    const attemptLog = await prisma.operationAttempt.findMany({
      where: { accountId, operationId: operation.id },
      orderBy: { number: 'asc' },
    });
    const described = describeOperation(operation, metadata);
    const standing = await this.approvals.describe(operation);
    const approves = scopes.includes('approve');
    const { request, response } = approves ? described : shownResponse(described, scopes);
    const approval = standing && {
      ...standing,
      counterparty: approves ? standing.counterparty : shownPayee(standing.counterparty, scopes),
    };
    return { ...operation, ...described, request, response, attemptLog, approval };
  }
}
