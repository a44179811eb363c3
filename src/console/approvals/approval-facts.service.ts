// What an approver is shown beside the payment itself: the exact request, what was paid before, the
// payee check, and what the limits leave.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import {
  counterpartyIn,
  findCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
} from '../../access/counterparties/counterparty.schema.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
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
  /** Whom the statement named when the account last paid the payee. */
  lastPaid: { name: string; day: PlainDate } | null;
  similar: SimilarOperation[];
  payeeCheck: PayeeCheck | null;
  limits: LimitInUse[];
  /** Of a batch: who receives how much. */
  payees: readonly Payee[];
}

const maxSimilar = 5;
/** Of the payments to a payee, the newest are searched for one that the statement shows. */
const maxPaid = 20;

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
    const isKnown = isOne ? await areKnownBeneficiaries(prisma, accountId, [counterparty]) : null;
    return {
      detail: { ...detail, approval },
      isKnownPayee: isKnown,
      lastPaid: isKnown === true && counterparty ? await this.findLast(viewer, counterparty) : null,
      similar: await listSimilarOperations(prisma, operation, maxSimilar),
      payeeCheck: isOne ? await this.findPayeeCheck(operation) : null,
      limits: await this.controls.listLimitsInUse(accountId),
      payees: this.outcomes.kindOf(operation).payeesOf?.(operation) ?? [],
    };
  }

  private async findLast(
    { accountId, scopes }: Pick<Caller, 'accountId' | 'scopes'>,
    counterparty: string,
  ): Promise<ApprovalFacts['lastPaid']> {
    const { prisma } = this.database;
    const references = await prisma.expectedPaymentReference.findMany({
      where: { accountId, kind: 'counterparty', value: counterparty },
      ...{ orderBy: { expectedPaymentId: 'desc' }, take: maxPaid },
    });
    const ids = references.map(({ expectedPaymentId }) => expectedPaymentId);
    const match = await prisma.match.findFirst({
      where: { accountId, expectedPaymentId: { in: ids }, role: 'payment', unlinkedAt: null },
      orderBy: { nsu: 'desc' },
    });
    if (!match) return null;
    const { nsu } = match;
    const line = await prisma.statementLine.findUnique({
      where: { accountId_nsu: { accountId, nsu } },
      select: { occurredAt: true, isCredit: true },
    });
    const found = counterpartyIn(await findCounterparties(prisma, accountId, [nsu]), nsu);
    const { name } = shownCounterparty(found, seesPersonalData(scopes));
    if (!line || line.isCredit || name === null) return null;
    return { name, day: saoPauloDay(line.occurredAt) };
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
