// What an approver is shown beside the payment itself: the exact request, what was paid before, the
// payee check, and what the limits leave.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Operation } from '../../generated/service/client.js';
import { paysAccount } from '../../bank-contract/operation-kinds.js';
import { areKnownBeneficiaries } from '../../outbound/operations/approvals.queries.js';
import { OperationDetails } from '../../outbound/operations/operation-details.service.js';
import { OperationOutcomes } from '../../outbound/operations/operation-outcomes.service.js';
import type { getOperation } from '../../outbound/operations/operations.schema.js';
import {
  listSimilarOperations,
  type SimilarOperation,
} from '../../outbound/operations/possible-duplicates.queries.js';
import {
  ControlChanges,
  type LimitInUse,
} from '../../outbound/payment-controls/control-changes.service.js';
import type { Payee } from '../../outbound/payment-controls/payment-controls.service.js';
import { AppError } from '../../platform/errors.js';
import { readBankTime } from '../../statement/lines/bank-clock.queries.js';
import { readLookupRules } from '../../outbound/transfers/transfers.queries.js';

/** What the look-up of a Pix key says about its holder. */
export interface PayeeCheck {
  result: 'confirmed' | 'not_confirmed' | 'not_asked' | 'holder_changed' | 'expired';
}

export interface ApprovalFacts {
  detail: RouteOutput<typeof getOperation> & {
    approval: NonNullable<RouteOutput<typeof getOperation>['approval']>;
  };
  /** Whether the account has paid the payee before; null where that cannot be said. */
  isKnownPayee: boolean | null;
  similar: SimilarOperation[];
  payeeCheck: PayeeCheck | null;
  limits: LimitInUse[];
  /** Of a batch: who receives how much. */
  payees: readonly Payee[];
}

const maxSimilar = 5;

@Injectable()
export class ApprovalFactsReader {
  constructor(
    private readonly database: Database,
    private readonly details: OperationDetails,
    private readonly outcomes: OperationOutcomes,
    private readonly controls: ControlChanges,
  ) {}

  /** Throws `not_found` for an operation that needed no approval. */
  async read(viewer: Pick<Caller, 'accountId' | 'scopes'>, id: string): Promise<ApprovalFacts> {
    const { prisma } = this.database;
    const { accountId } = viewer;
    const detail = await this.details.get(viewer, id);
    const { approval } = detail;
    if (!approval) throw new AppError('not_found');
    const where = { accountId_id: { accountId, id } };
    const operation = await prisma.operation.findUniqueOrThrow({ where });
    const { kind, counterparty } = operation;
    const isOne = paysAccount(kind) && counterparty !== null;
    return {
      detail: { ...detail, approval },
      isKnownPayee: isOne ? await areKnownBeneficiaries(prisma, accountId, [counterparty]) : null,
      similar: await listSimilarOperations(prisma, operation, maxSimilar),
      payeeCheck: isOne ? await this.findPayeeCheck(operation) : null,
      limits: await this.controls.listLimitsInUse(accountId),
      payees: this.outcomes.kindOf(operation).payeesOf?.(operation) ?? [],
    };
  }

  /** Null for a transfer that is not by Pix key, or whose look-up the service did not make. */
  private async findPayeeCheck({ accountId, id }: Operation): Promise<PayeeCheck | null> {
    const { prisma, sql } = this.database;
    const where = { accountId_operationId_position: { accountId, operationId: id, position: 0 } };
    const transfer = await prisma.transfer.findUnique({ where });
    const endToEndId = transfer?.shape === 'key' ? transfer.endToEndId : null;
    if (endToEndId === null) return null;
    const now = await readBankTime(prisma, accountId);
    const rules = await readLookupRules(sql, accountId, { endToEndId, now, isUnseen: false });
    if (!rules) return null;
    if (rules.isExpired) return { result: 'expired' };
    if (rules.hasChanged) return { result: 'holder_changed' };
    const key = { accountId_endToEndId: { accountId, endToEndId } };
    const { keyBelongsHolder } = await prisma.pixLookup.findUniqueOrThrow({ where: key });
    if (keyBelongsHolder === null) return { result: 'not_asked' };
    return { result: keyBelongsHolder ? 'confirmed' : 'not_confirmed' };
  }
}
