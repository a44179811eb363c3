// Owns charges and static QR codes: creates them by operations, and reads them with their payments
// and refunds. A correlationId belongs to one charge or QR code.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { adjustmentsOf, serializeAdjustments } from '../../bank-contract/charge-terms.js';
import { createCharge } from '../../bank-contract/charges.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { createStaticQr } from '../../bank-contract/static-qr.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { normalizeTaxId } from '../../brazil/tax-id.js';
import { withoutMetadata } from '../../statement/expected-payments/metadata.js';
import {
  referencesOf,
  type NewExpectedPayment,
} from '../../statement/expected-payments/expected-payment.js';
import type { Charge, Prisma } from '../../generated/service/client.js';
import type { Operation, OperationKind, RequestPreferences } from '../operations/operation.js';
import { OperationsService } from '../operations/operations.service.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { groupBy } from '../../platform/grouping.js';
import { listExaminedIds, totalExamined } from '../../platform/http/examined-ids.queries.js';
import {
  findByFirstId,
  isUuid,
  toList,
  type ListTotal,
  type Order,
  type Page,
} from '../../platform/http/listing.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { ChargeLookUp } from './charge-look-up.service.js';
import { findCharges, type ChargeFilters } from './charge-list.queries.js';
import {
  chargesWrite,
  listNewestPayments,
  listNewestRefunds,
  type NewChargeRow,
} from './charges.queries.js';
import { chargeInclude, toChargeView, type ChargeWithSettlement } from './charge-view.js';
import { firstStatusCheckAt, lastPastDue } from './charge-status.js';

interface NewCharge extends Pick<Charge, 'correlationId' | 'type' | 'amountCents'> {
  dueDate?: string;
  /** Discount, fine and interest, from `serializeAdjustments`; null when there are none. */
  terms?: string | null;
  payerDocument?: string | null;
}

@Injectable()
export class ChargesService implements OnModuleInit {
  private readonly chargeKind: OperationKind<typeof createCharge> = {
    name: 'create_charge',
    route: createCharge,
    repeat: 'keyed',
    echoes: ({ body }, response) =>
      response.correlationId === body.correlationId && response.amount === body.Amount,
    rowWrites: chargeWrites,
    refusalOf: correlationIdTaken,
    sharesIdentitiesWith: ['create_static_qr'],
    onRejected: (tx, operation) => this.deleteCharge(tx, operation),
    lookUp: (account, operation) => this.lookUp.charge(account, operation),
  };

  private readonly staticQrKind: OperationKind<typeof createStaticQr> = {
    name: 'create_static_qr',
    route: createStaticQr,
    repeat: 'keyed',
    echoes: ({ body }, response) =>
      response.correlationId === body.correlationId &&
      (response.amount ?? null) === (body.amount ?? null),
    rowWrites: chargeWrites,
    refusalOf: correlationIdTaken,
    sharesIdentitiesWith: ['create_charge'],
    onRejected: (tx, operation) => this.deleteCharge(tx, operation),
    lookUp: (account, operation) => this.lookUp.staticQr(account, operation),
  };

  constructor(
    private readonly database: Database,
    private readonly operations: OperationsService,
    private readonly bankTime: BankTime,
    private readonly lookUp: ChargeLookUp,
  ) {}

  onModuleInit(): void {
    this.operations.register(this.chargeKind);
    this.operations.register(this.staticQrKind);
  }

  create(
    accountId: number,
    request: RouteInput<typeof createCharge>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { input, metadata } = withoutMetadata(request);
    const { correlationId, type, Amount: amountCents, dueDate } = input.body;
    const { discount, lateFine, latePayment } = input.body;
    const hasTerms = discount ?? lateFine ?? latePayment;
    const terms = hasTerms
      ? serializeAdjustments(adjustmentsOf(input.body, this.lookUp.interestPeriod))
      : null;
    const payerDocument = normalizeTaxId(input.body.payer.document);
    const charge = { correlationId, type, amountCents, dueDate, terms, payerDocument };
    return this.operations.perform(this.chargeKind, {
      idempotencyKey: input.idempotencyKey,
      input,
      metadata,
      preferences,
      ...this.operationOf(accountId, charge, false),
    });
  }

  async createStaticQr(
    accountId: number,
    request: RouteInput<typeof createStaticQr>,
    preferences: RequestPreferences,
  ): Promise<Reply> {
    const { input, metadata } = withoutMetadata(request);
    const { correlationId, amount } = input.body;
    const charge = { correlationId, type: 'PIX_STATIC', amountCents: amount ?? null };
    return this.operations.perform(this.staticQrKind, {
      idempotencyKey: input.idempotencyKey,
      input,
      metadata,
      preferences,
      ...this.operationOf(accountId, charge, true),
    });
  }

  /**
   * Finds a charge by its correlationId, or by the id of the operation that created it. Throws
   * `not_found`.
   */
  async get(accountId: number, id: string) {
    const ids = [{ correlationId: id }, ...(isUuid(id) ? [{ operationId: id }] : [])];
    return findByFirstId(ids, async (one) => {
      const { rows, describe } = await this.read({ accountId, ...one }, 1);
      return rows.map(describe);
    });
  }

  /** One page. */
  async list(accountId: number, page: Page, filters: ChargeFilters) {
    const { prisma } = this.database;
    const found = await this.find(accountId, filters);
    const { ids, lastExamined } = await listExaminedIds(prisma, accountId, found, page);
    const where = { accountId, operationId: { in: ids } };
    const { rows, describe } = await this.read(where, page.limit + 1, page.order);
    return toList({ rows, lastExamined }, page, (row) => row.operationId, describe);
  }

  async total(accountId: number, filters: ChargeFilters): Promise<ListTotal> {
    const { prisma } = this.database;
    return totalExamined(prisma, accountId, await this.find(accountId, filters));
  }

  private async find(accountId: number, filters: ChargeFilters) {
    const today = await this.bankTime.today(accountId);
    return findCharges(this.database.prisma, accountId, filters, lastPastDue(today));
  }

  private operationOf(accountId: number, charge: NewCharge, isMultiUse: boolean) {
    const { terms = null, payerDocument = null, dueDate = null, ...row } = charge;
    const { correlationId, amountCents } = row;
    const expected: NewExpectedPayment = {
      isCredit: true,
      amountCents,
      dueDate,
      terms,
      counterpartyDocument: payerDocument,
      isMultiUse,
      references: referencesOf({ correlation_id: correlationId }),
    };
    return {
      accountId,
      naturalIdentity: `correlationId ${correlationId}`,
      expectedPayments: [expected],
      rowOf: (operationId: string, [expectedPaymentId = '']: readonly string[]): NewChargeRow => ({
        operationId,
        expectedPaymentId,
        nextCheckAt: dueDate === null ? null : firstStatusCheckAt(dueDate, this.lookUp.creditDays),
        ...row,
      }),
    };
  }

  /**
   * Deletes a charge that the bank rejected, so that a corrected request may use its correlationId.
   */
  private async deleteCharge(tx: Tx, { accountId, id }: Operation): Promise<void> {
    await tx.charge.deleteMany({ where: { accountId, operationId: id } });
  }

  private async read(
    where: Prisma.ChargeWhereInput & { accountId: number },
    take: number,
    order: Order = 'desc',
  ) {
    const db = this.database.prisma;
    const { accountId } = where;
    const orderBy = { operationId: order };
    const rows = await db.charge.findMany({ where, orderBy, take, include: chargeInclude });
    const ids = rows.map(({ expectedPaymentId }) => expectedPaymentId);
    const ofCharge = ({ expectedPaymentId }: { expectedPaymentId: string }) => expectedPaymentId;
    // An id may be tried in vain.
    const [paid, returned, today] = await Promise.all([
      ids.length === 0 ? [] : listNewestPayments(db, accountId, ids),
      ids.length === 0 ? [] : listNewestRefunds(db, accountId, ids),
      ids.length === 0 ? '' : this.bankTime.today(accountId),
    ]);
    const [payments, refunds] = [groupBy(paid, ofCharge), groupBy(returned, ofCharge)];
    const describe = (row: ChargeWithSettlement) => {
      const { expectedPaymentId: id } = row;
      const shown = { payments: payments.get(id) ?? [], refunds: refunds.get(id) ?? [] };
      return toChargeView(row, shown, today);
    };
    return { rows, describe };
  }
}

const chargeWrites = (accountId: number, charges: NewChargeRow[]) => [
  chargesWrite(accountId, charges),
];

/** The statement could not distinguish payments of two charges with one correlationId. */
const correlationIdTaken = () =>
  Promise.resolve(
    new AppError('conflict', {
      reason: 'correlation_id_taken',
      public: 'The correlationId is already used by another charge or QR code.',
    }),
  );
