// Compares each payment with the controls of its account, in the transaction that stores its
// operation and under the lock of the controls: payments at once never exceed a limit together. An
// account without controls is not slowed: its payments are not counted.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/postgres/database.service.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { ruleBroken } from '../../platform/errors.js';
import { dayAt, findExceeded, hourAt, nightAt, type UsedLimit } from './limits.js';
import * as queries from './payment-controls.queries.js';

/** Who receives how much. */
export interface Payee {
  /** In the normalized form of `operation.counterparty`. */
  counterparty: string;
  amountCents: bigint;
}

/** `refund`: money that returns to its payer. It counts for limits, and needs no beneficiary. */
export type PaymentPurpose = 'transfer' | 'bill' | 'refund';

/** An operation that sends money, before it is stored or when it is approved. */
export interface Payment {
  accountId: number;
  operationId: string;
  purpose: PaymentPurpose;
  /** Several for a batch. */
  payees: readonly Payee[];
  /** The key or the person; null where the service itself made the request. */
  actor: string | null;
  /** When it takes effect, by the bank's clock, where the caller scheduled it. */
  effectiveFrom: Date | null;
}

@Injectable()
export class PaymentControls {
  /**
   * Throws 422 `beneficiary_not_allowed`, `beneficiary_cooling_off` or `limit_exceeded` when the
   * controls forbid the payment. Returns what is to be written with its operation. A payment that
   * waited for approval is compared again, and counts from then on for the present.
   */
  async assertAllowed(tx: Tx, payment: Payment): Promise<Write[]> {
    const { accountId, operationId, payees, actor } = payment;
    const controls = await queries.lockRestrictingControls(tx, accountId);
    if (!controls) return [];
    const effectiveAt = payment.effectiveFrom ?? controls.now;
    await this.assertBeneficiaries(tx, controls, payment);
    await this.assertWithinLimits(tx, controls, payment, effectiveAt);
    const counted = payees.map((payee, position) => {
      return { ...payee, accountId, operationId, position, actor, effectiveAt };
    });
    return [queries.countedPaymentsWrite(counted)];
  }

  private async assertBeneficiaries(
    tx: Tx,
    { accountId, hasAllowList, allowListIncludesBills }: queries.RestrictingControls,
    { purpose, payees }: Payment,
  ): Promise<void> {
    if (!hasAllowList || purpose === 'refund') return;
    if (purpose === 'bill' && !allowListIncludesBills) return;
    const counterparties = [...new Set(payees.map(({ counterparty }) => counterparty))];
    const found = await queries.listUsedBeneficiaries(tx, accountId, counterparties);
    if (found.length < counterparties.length)
      throw ruleBroken(
        'beneficiary_not_allowed',
        'The account pays its beneficiaries only, and the payee is none of them. Nothing was sent.',
      );
    const coolingOff = found.filter(({ isUsable }) => !isUsable);
    if (coolingOff.length === 0) return;
    const times = coolingOff.map(({ usableFrom }) => usableFrom.getTime());
    const until = new Date(Math.max(...times)).toISOString();
    throw ruleBroken(
      'beneficiary_cooling_off',
      `The payee is a new beneficiary and can be paid from ${until}. Nothing was sent.`,
    );
  }

  private async assertWithinLimits(
    tx: Tx,
    controls: queries.RestrictingControls,
    payment: Payment,
    effectiveAt: Date,
  ): Promise<void> {
    const { payees, actor } = payment;
    const paymentCents = payees.reduce((sum, { amountCents }) => sum + amountCents, 0n);
    const day = dayAt(effectiveAt);
    const night = nightAt(effectiveAt, controls);
    const periods = { hour: hourAt(effectiveAt), night, day };
    const paid = await queries.sumPaid(tx, payment, periods);
    const limit = (name: string, limitCents: bigint | null, usedCents: bigint): UsedLimit => {
      return { name, limitCents, usedCents, paymentCents };
    };
    const limits = [
      limit('per operation', controls.perOperationCents, 0n),
      limit('per hour', controls.perHourCents, paid.hour),
      limit('per night', night && controls.perNightCents, paid.night),
      limit('per day', controls.perDayCents, paid.day),
      limit('per API key and day', actor === null ? null : controls.perKeyDayCents, paid.keyDay),
    ];
    if (controls.perCounterpartyDayCents !== null) {
      const name = 'per counterparty and day';
      const asked = sumByCounterparty(payees);
      const paidTo = await queries.listPaidTo(tx, payment, [...asked.keys()], day);
      const used = new Map(paidTo.map(({ counterparty, cents }) => [counterparty, cents]));
      for (const [counterparty, cents] of asked) {
        const counted = limit(name, controls.perCounterpartyDayCents, used.get(counterparty) ?? 0n);
        limits.push({ ...counted, paymentCents: cents });
      }
    }
    const exceeded = findExceeded(limits);
    if (exceeded !== null) throw ruleBroken('limit_exceeded', exceeded);
  }
}

function sumByCounterparty(payees: readonly Payee[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { counterparty, amountCents } of payees)
    sums.set(counterparty, (sums.get(counterparty) ?? 0n) + amountCents);
  return sums;
}
