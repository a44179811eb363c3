// Changes the controls and the beneficiaries of an account, each change with who made it and why.
// It waits for payments that are being compared with the controls, and takes effect for the next.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { findBarCode } from '../../brazil/bill-code.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import {
  formatCounterparty,
  normalizeAccountNumber,
} from '../../statement/expected-payments/counterparty.js';
import {
  Prisma,
  type Beneficiary,
  type PaymentControl,
  type PaymentControlAction,
} from '../../generated/service/client.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { readUuid, type Page } from '../../platform/http/listing.js';
import { dayAt, hourAt, nightAt } from './limits.js';
import * as queries from './payment-controls.queries.js';
import type {
  addBeneficiary,
  changePaymentControls,
  getAccountPaymentControls,
  getPaymentControls,
  removeBeneficiary,
  DeclaredDebit,
} from './payment-controls.schema.js';

const maxChangesShown = 100;

type ControlsView = RouteOutput<typeof getPaymentControls>;
export type GuardView = Omit<
  RouteOutput<typeof getAccountPaymentControls>['guard'],
  'alertChannels'
>;
type NewBeneficiary = RouteInput<typeof addBeneficiary>['body'];

/** A limit that is set, and how much of it is used by now. */
export interface LimitInUse {
  name: keyof ControlsView['limits'];
  limitCents: bigint;
  /** Null where no single amount is used: it depends on the payment, or does not hold now. */
  usedCents: bigint | null;
}

interface ChangedBy {
  actor: string;
  reason: string;
}

@Injectable()
export class ControlChanges {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
  ) {}

  async read(accountId: number): Promise<ControlsView> {
    return describe(await this.find(accountId));
  }

  async readGuard(accountId: number): Promise<GuardView> {
    return guardOf(await this.find(accountId));
  }

  private async find(accountId: number): Promise<PaymentControl | null> {
    return this.database.prisma.paymentControl.findUnique({ where: { accountId } });
  }

  async readAudited(slug: string): Promise<RouteOutput<typeof getAccountPaymentControls>> {
    const { id: accountId } = await this.accounts.getBySlug(slug);
    const changes = await this.database.prisma.paymentControlChange.findMany({
      where: { accountId },
      orderBy: { sequence: 'desc' },
      take: maxChangesShown,
    });
    const stored = await this.find(accountId);
    const alertChannels = await queries.countAlertChannels(this.database.prisma, accountId);
    return {
      ...describe(stored),
      guard: { ...guardOf(stored), alertChannels },
      changes: changes.map(({ createdAt: at, ...change }) => ({ ...change, at })),
    };
  }

  /** What the limits of the account leave at this time; none where it has no limit. */
  async listLimitsInUse(accountId: number): Promise<LimitInUse[]> {
    const { prisma } = this.database;
    const controls = await queries.findRestrictingControls(prisma, accountId);
    if (!controls) return [];
    const { now } = controls;
    const night = nightAt(now, controls);
    const periods = { hour: hourAt(now), night, day: dayAt(now) };
    const paid = await queries.sumPaid(
      prisma,
      { accountId, operationId: null, actor: null },
      periods,
    );
    const limits = [
      { name: 'perOperation', limitCents: controls.perOperationCents, usedCents: null },
      { name: 'perHour', limitCents: controls.perHourCents, usedCents: paid.hour },
      { name: 'perNight', limitCents: controls.perNightCents, usedCents: night && paid.night },
      { name: 'perDay', limitCents: controls.perDayCents, usedCents: paid.day },
      { name: 'perKeyPerDay', limitCents: controls.perKeyDayCents, usedCents: null },
      {
        name: 'perCounterpartyPerDay',
        limitCents: controls.perCounterpartyDayCents,
        usedCents: null,
      },
    ] as const;
    return limits.flatMap(({ limitCents, ...limit }) =>
      limitCents === null ? [] : [{ ...limit, limitCents }],
    );
  }

  /** `more`: what a route of its own changes, after what it asks before. */
  async change(
    { params, body }: Pick<RouteInput<typeof changePaymentControls>, 'params' | 'body'>,
    more: Partial<Pick<PaymentControl, 'stopsOnAlarm'>> = {},
  ): Promise<void> {
    const { id: accountId } = await this.accounts.getBySlug(params.slug);
    const { actor, reason, limits = {}, guard = {}, allowList, ...fields } = body;
    await this.database.transaction(async (tx) => {
      const before = await queries.lockControls(tx, accountId);
      const data = {
        ...fields,
        ...more,
        hasAllowList: allowList,
        perOperationCents: limits.perOperation,
        perHourCents: limits.perHour,
        perNightCents: limits.perNight,
        perDayCents: limits.perDay,
        perKeyDayCents: limits.perKeyPerDay,
        perCounterpartyDayCents: limits.perCounterpartyPerDay,
        guardIntervalSeconds: guard.intervalSeconds,
        bankContact: guard.bankContact,
        alarmAboveCents: guard.alarmAbove,
        declaredDebits: guard.declaredDebits && toStored(guard.declaredDebits),
      };
      const night = { ...before, ...fields };
      if (night.nightFromHour === night.nightUntilHour)
        throw invalidField('$.nightUntilHour', 'Must differ from nightFromHour.');
      const after = await tx.paymentControl.update({ where: { accountId }, data });
      if (await queries.lockRestrictingControls(tx, accountId))
        await queries.countEarlierPayments(tx, accountId);
      await this.record(tx, accountId, 'controls_set', { actor, reason }, toJson(after));
    });
  }

  /** Newest first; one row more than the page holds. */
  async listBeneficiaries(accountId: number, { limit, after }: Page): Promise<Beneficiary[]> {
    return this.database.prisma.beneficiary.findMany({
      where: { accountId, removedAt: null, ...(after === null ? {} : { id: { lt: after } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    });
  }

  /** A beneficiary in use stays as it is. */
  async add({ params, body }: RouteInput<typeof addBeneficiary>): Promise<Beneficiary> {
    const { id: accountId } = await this.accounts.getBySlug(params.slug);
    const counterparty = counterpartyOf(body);
    return this.database.transaction(async (tx) => {
      const { coolingOffHours } = await queries.lockControls(tx, accountId);
      const where = { accountId, counterparty, removedAt: null };
      const inUse = await tx.beneficiary.findFirst({ where });
      if (inUse) return inUse;
      const beneficiary = { accountId, id: newId(), counterparty, name: body.name };
      await queries.insertBeneficiary(tx, beneficiary, coolingOffHours);
      const details = { beneficiaryId: beneficiary.id, counterparty, coolingOffHours };
      await this.record(tx, accountId, 'beneficiary_added', body, details);
      return tx.beneficiary.findFirstOrThrow({ where });
    });
  }

  /** Throws `not_found` for one that is removed. */
  async remove({ params, body }: RouteInput<typeof removeBeneficiary>): Promise<Beneficiary> {
    const { id: accountId } = await this.accounts.getBySlug(params.slug);
    const id = readUuid(params.id);
    return this.database.transaction(async (tx) => {
      await queries.lockControls(tx, accountId);
      if (!(await queries.endBeneficiary(tx, accountId, id))) throw new AppError('not_found');
      const removed = await tx.beneficiary.findUniqueOrThrow({
        where: { accountId_id: { accountId, id } },
      });
      const details = { beneficiaryId: id, counterparty: removed.counterparty };
      await this.record(tx, accountId, 'beneficiary_removed', body, details);
      return removed;
    });
  }

  /** The controls are locked. */
  private async record(
    tx: Tx,
    accountId: number,
    action: PaymentControlAction,
    { actor, reason }: ChangedBy,
    details: Prisma.InputJsonObject,
  ): Promise<void> {
    const last = await tx.paymentControlChange.findFirst({
      where: { accountId },
      orderBy: { sequence: 'desc' },
    });
    const sequence = (last?.sequence ?? 0) + 1;
    const data = { accountId, sequence, action, actor, reason, details };
    await tx.paymentControlChange.create({ data });
  }
}

function counterpartyOf({ account, accountNumber, bill }: NewBeneficiary): string {
  if (account) return formatCounterparty(account);
  if (accountNumber) return normalizeAccountNumber(accountNumber);
  return findBarCode(bill ?? '') ?? '';
}

/** What an account has that sets nothing. The schema of the database has the same defaults. */
const defaults = {
  checksPayee: true,
  hasAllowList: false,
  allowListIncludesBills: true,
  coolingOffHours: 24,
  perOperationCents: null,
  perHourCents: null,
  perNightCents: null,
  perDayCents: null,
  perKeyDayCents: null,
  perCounterpartyDayCents: null,
  nightFromHour: 20,
  nightUntilHour: 6,
  guardIntervalSeconds: null,
  bankContact: null,
  alarmAboveCents: null,
  declaredDebits: [],
  stopsOnAlarm: false,
} satisfies Omit<PaymentControl, 'accountId'>;

function describe(stored: PaymentControl | null): ControlsView {
  const controls = stored ?? defaults;
  const { checksPayee, hasAllowList, allowListIncludesBills, coolingOffHours } = controls;
  return {
    ...{ checksPayee, allowList: hasAllowList, allowListIncludesBills, coolingOffHours },
    limits: {
      perOperation: controls.perOperationCents,
      perHour: controls.perHourCents,
      perNight: controls.perNightCents,
      perDay: controls.perDayCents,
      perKeyPerDay: controls.perKeyDayCents,
      perCounterpartyPerDay: controls.perCounterpartyDayCents,
    },
    nightFromHour: controls.nightFromHour,
    nightUntilHour: controls.nightUntilHour,
  };
}

/** Of which debits people are notified. */
function guardOf(stored: Omit<PaymentControl, 'accountId'> | null): GuardView {
  const { guardIntervalSeconds, bankContact, alarmAboveCents, declaredDebits, stopsOnAlarm } =
    stored ?? defaults;
  const declared = declaredDebits as unknown as ReturnType<typeof toStored>;
  return {
    intervalSeconds: guardIntervalSeconds,
    bankContact,
    alarmAbove: alarmAboveCents,
    stopsOnAlarm,
    declaredDebits: declared.map(({ maximumCents, ...one }) => ({
      ...one,
      maximum: BigInt(maximumCents),
    })),
  };
}

const toStored = (declared: readonly DeclaredDebit[]) =>
  declared.map(({ maximum, ...one }) => ({ ...one, maximumCents: maximum.toString() }));

/** Amounts of the history are cents, as text: JSON of the database has no exact numbers. */
function toJson(stored: PaymentControl): Prisma.InputJsonObject {
  const { limits, ...view } = describe(stored);
  const cents = Object.entries(limits).map(([name, limit]) => [name, limit?.toString() ?? null]);
  const { intervalSeconds, bankContact, alarmAbove, declaredDebits, stopsOnAlarm } =
    guardOf(stored);
  return {
    ...view,
    limitsInCents: Object.fromEntries(cents) as Record<string, string | null>,
    guard: {
      intervalSeconds,
      bankContact,
      stopsOnAlarm,
      alarmAboveCents: alarmAbove?.toString() ?? null,
      declaredDebits: toStored(declaredDebits),
    },
  };
}
