// The modes and faults by which the sandbox behaves as a bank profile says. What the profile does
// not know stays as it is; so does what the sandbox has no mode for: the correlationId and the
// endToEndId of a Pix are always on its line, and a charge that is repeated is refused where a key
// is.
import { knownOr, type BankHabits } from '../../bank-contract/bank-profile.js';
import type { FaultRequest } from '../faults/fault.js';
import type { ModeChanges } from '../modes/modes.schema.js';

const repeats = { replay: 'replay', refused: 'conflict', executed: 'ignore' } as const;

export function modesOfHabits(habits: BankHabits): ModeChanges {
  const servedWhere = (has: BankHabits['hasChargeById']) =>
    has === 'unknown' ? undefined : has ? 'served' : 'absent';
  const repeated = knownOr(habits.repeatedTransfer, null);
  return {
    statementOrder: knownOr(habits.pageOrder, undefined),
    statementPageCap: knownOr(habits.pageCap, undefined),
    nsuVisibility: knownOr(habits.nsuOrder, undefined),
    lineExternalId: knownOr(habits.lineExternalId, undefined),
    lineOriginalId: knownOr(habits.lineOriginalId, undefined),
    refundEndToEndId: knownOr(habits.refundEndToEndId, undefined),
    idempotentRepeat: repeated === null ? undefined : repeats[repeated],
    chargeById: servedWhere(habits.hasChargeById),
    transferById: servedWhere(habits.hasTransferById),
    rateLimitPerSecond: knownOr(habits.ratePerSecond, undefined),
    interestPeriod: knownOr(habits.interestPeriod, undefined),
  };
}

/** Delays were rounded up to whole seconds: one second is none that was seen. */
const unseenMs = 1_000;

export function faultsOfHabits(habits: BankHabits): FaultRequest[] {
  const always = { times: null, probability: null, seed: 1 } as const;
  const lineDelayMs = knownOr(habits.lineDelayMs, 0);
  const webhookDelayMs = knownOr(habits.webhookDelayMs, 0);
  const faults: FaultRequest[] = [];
  // Lines that overtake each other are late by the mode.
  if (lineDelayMs > unseenMs && habits.nsuOrder !== 'out-of-order')
    faults.push({
      endpoint: 'transactions',
      kind: 'line-withheld',
      ...always,
      delayMs: lineDelayMs,
    });
  const webhooks = { endpoint: 'webhooks', delayMs: null, seed: 1, times: null } as const;
  if (habits.webhookDelivery === 'some')
    faults.push({ ...webhooks, kind: 'webhook-lost', probability: 0.25 });
  if (habits.webhookCopies === 'repeated')
    faults.push({ ...webhooks, kind: 'webhook-twice', probability: 0.25 });
  if (webhookDelayMs > unseenMs)
    faults.push({ ...webhooks, kind: 'webhook-late', probability: null, delayMs: webhookDelayMs });
  return faults;
}
