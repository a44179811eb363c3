// The scenarios of a busy account, each with its correct result: ordinary business, and each kind
// of error.
import { amountOwed } from '../../src/brazil/amount-owed.js';
import { addDays } from '../../src/brazil/calendar.js';
import { saoPauloDay } from '../../src/brazil/statement-day.js';
import { serializeAdjustments } from '../../src/bank-contract/charge-terms.js';
import {
  addCharge,
  addChargeLine,
  addTransfer,
  addTransferLine,
  type ChargeDueTerms,
} from './payments.js';
import type { YearBuilder, YearLine, YearPayment } from './year-builder.js';

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;

/** Adds its lines and payments. `at` is at least twelve days before the end of the year. */
export type Scenario = (builder: YearBuilder, at: number) => void;

const saoPaulo = (at: number) => saoPauloDay(new Date(at));

function addPaidCharge(builder: YearBuilder, at: number): void {
  addChargeLine(builder, addCharge(builder, at), at, { match: 'payment' });
}

/** Paid early with a discount, or late with fine and interest. */
function addAdjustedCharge(builder: YearBuilder, at: number): void {
  const isLate = builder.dice.chance(0.5);
  const payDay = saoPaulo(at);
  const dueDate = addDays(
    payDay,
    isLate ? -builder.dice.integer(6, 20) : builder.dice.integer(3, 20),
  );
  const adjustments = {
    discounts: [{ isPercentage: true, date: addDays(dueDate, -1), amount: 5_000_000n }],
    fine: { isPercentage: true, date: addDays(dueDate, 1), amount: 2_000_000n },
    interest: { isPercentage: true, date: addDays(dueDate, 1), amount: 1_000_000n },
  };
  const terms: ChargeDueTerms = { dueDate, terms: serializeAdjustments(adjustments) };
  const charge = addCharge(builder, at, terms);
  const amountCents = BigInt(charge.cents ?? 0);
  const cents = Number(amountOwed({ amountCents, dueDate, ...adjustments }, payDay));
  addChargeLine(builder, charge, at, { match: 'payment' }, cents);
}

function addInstalments(builder: YearBuilder, at: number): void {
  const charge = addCharge(builder, at);
  const total = charge.cents ?? 0;
  const first = builder.dice.integer(1, total - 1);
  addChargeLine(builder, charge, at, { match: 'payment' }, first);
  addChargeLine(
    builder,
    charge,
    at + builder.dice.integer(1, 5) * dayMs,
    { match: 'payment' },
    total - first,
  );
}

/** One code that is paid several times. Each payer chooses the amount. */
function addStaticQr(builder: YearBuilder, at: number): void {
  const correlationId = builder.uniqueName('qr');
  const code = builder.addPayment({
    ...{ kind: 'create_static_qr', cents: null, isMultiUse: true, createdAt: at - dayMs },
    references: [{ kind: 'correlation_id', value: correlationId }],
    charge: { correlationId, type: 'PIX_STATIC' },
  });
  for (let times = builder.dice.integer(1, 12); times > 0; times -= 1) {
    const cents = builder.dice.integer(100, 50_000);
    addChargeLine(
      builder,
      code,
      at + builder.dice.integer(0, 11 * dayMs),
      { match: 'payment' },
      cents,
    );
  }
}

function addSentPix(builder: YearBuilder, at: number): void {
  addTransferLine(builder, addTransfer(builder, at), at, { match: 'payment' });
}

/** One operation with several debits. Each line has its own id. */
function addBatch(builder: YearBuilder, at: number): void {
  const { id, operationId } = addTransfer(builder, at, { kind: 'create_transfer_batch' });
  const first = builder.payments.at(-1);
  if (first?.id !== id) throw new Error('the batch was not recorded');
  const items = [first];
  for (let more = builder.dice.integer(1, 5); more > 0; more -= 1) {
    const item = addTransfer(builder, at, { kind: 'create_transfer_batch' });
    item.operationId = operationId;
    items.push(item);
  }
  // A batch has one idempotency key for all its items, so the key identifies no item.
  for (const item of items) {
    item.references = item.references.filter(({ kind }) => kind !== 'idempotency_key');
    addTransferLine(builder, item, at + builder.dice.integer(0, 5_000), { match: 'payment' });
  }
}

function addBill(builder: YearBuilder, at: number): void {
  const billCode = `8${builder.dice.digits(43)}`;
  const bankId = builder.uuid('bill', billCode);
  const payment = builder.addPayment({
    ...{ kind: 'pay_bill', cents: builder.dice.integer(1_000, 200_000), isCredit: false },
    ...{ createdAt: at - 1_000, billCode },
    references: [
      { kind: 'bill_code', value: billCode },
      { kind: 'movement_id', value: bankId },
    ],
  });
  payment.reportedNsuOf = builder.addLine({
    ...{ at, cents: payment.cents ?? 0, typeName: 'DEBIT_BILL_PAYMENT', payment },
    proof: { id: bankId, barCode: billCode },
    correct: { match: 'payment' },
  });
}

const ordinaryShares: [number, Scenario][] = [
  [8, addPaidCharge],
  [3, addAdjustedCharge],
  [1, addInstalments],
  [2, addStaticQr],
  [5, addSentPix],
  [1, addBatch],
  [2, addBill],
];

/** Adds one scenario of ordinary business, chosen by its share. */
export function addOrdinaryBusiness(builder: YearBuilder, at: number): void {
  const total = ordinaryShares.reduce((sum, [share]) => sum + share, 0);
  let remaining = builder.dice.integer(1, total);
  for (const [share, scenario] of ordinaryShares) {
    remaining -= share;
    if (remaining <= 0) return scenario(builder, at);
  }
}

function addTwoPayments(builder: YearBuilder, at: number): [YearPayment, YearLine] {
  const charge = addCharge(builder, at);
  addChargeLine(builder, charge, at, { match: 'payment' });
  const later = at + builder.dice.integer(1, 8 * 24) * hourMs;
  return [charge, addChargeLine(builder, charge, later, { match: 'payment' })];
}

function addRefund(
  builder: YearBuilder,
  original: YearLine,
  at: number,
  cents = original.cents,
): void {
  const originalEndToEndId = String(original.proof.endToEndId);
  const [endToEndId, bankId] = [builder.endToEndId().replace('E', 'D'), builder.uuid('refund', at)];
  const refunded = builder.addPayment({
    ...{ kind: 'refund_pix', cents, isCredit: false, createdAt: at - 1_000, refundOf: original },
    references: [
      { kind: 'original_end_to_end_id', value: originalEndToEndId },
      { kind: 'end_to_end_id', value: endToEndId },
      { kind: 'movement_id', value: bankId },
    ],
  });
  refunded.reportedNsuOf = builder.addLine({
    ...{ at, cents, typeName: 'DEBIT_PIX_REFUND', payment: refunded },
    proof: { id: bankId, endToEndId, originalEndToEndId },
    correct: { match: 'payment' },
  });
}

/** Nobody requested the debit, and no operation has sent as much: none of them may explain it. */
function unexplained({ dice }: YearBuilder, side: 'CREDIT' | 'DEBIT') {
  return side === 'CREDIT'
    ? { cents: dice.integer(100, 90_000), correct: { breakKind: 'unexpected' } }
    : { cents: dice.integer(300_000, 900_000), correct: { breakKind: 'unrequested_debit' } };
}

/** Each error, and each case that must not be taken for one, by its name in the report. */
export const errorScenarios: Record<string, Scenario> = {
  'paid twice': (builder, at) => {
    const [charge, second] = addTwoPayments(builder, at);
    second.correct.breakKind = 'duplicate_payment';
    charge.breaks = ['duplicate_payment'];
  },
  'paid twice, refunded by us': (builder, at) => {
    const [, second] = addTwoPayments(builder, at);
    addRefund(builder, second, second.at + dayMs);
  },
  underpaid: (builder, at) => {
    const charge = addCharge(builder, at);
    const cents = builder.dice.integer(1, (charge.cents ?? 0) - 1);
    addChargeLine(builder, charge, at, { match: 'payment', breakKind: 'underpaid' }, cents);
    charge.breaks = ['underpaid'];
  },
  overpaid: (builder, at) => {
    const charge = addCharge(builder, at);
    const cents = (charge.cents ?? 0) + builder.dice.integer(1, 5_000);
    addChargeLine(builder, charge, at, { match: 'payment', breakKind: 'overpaid' }, cents);
    charge.breaks = ['overpaid'];
  },
  'paid after cancellation': (builder, at) => {
    const charge = addCharge(builder, at);
    if (charge.charge) charge.charge.cancelledAt = charge.createdAt + hourMs;
    addChargeLine(builder, charge, at, { match: 'payment', breakKind: 'paid_after_cancellation' });
    charge.breaks = ['paid_after_cancellation'];
  },
  'paid after expiry': (builder, at) => {
    const charge = addCharge(builder, at, { dueDate: saoPaulo(at - 10 * dayMs) });
    if (charge.charge) charge.charge.expiredAt = at - 2 * dayMs;
    addChargeLine(builder, charge, at, { match: 'payment', breakKind: 'paid_after_expiry' });
    charge.breaks = ['paid_after_expiry'];
  },
  'charge missing': (builder, at) => {
    const charge = addCharge(builder, at, { dueDate: saoPaulo(at + 3 * dayMs) });
    if (charge.charge && builder.dice.chance(0.5)) charge.charge.expiredAt = at + 8 * dayMs;
    charge.breaks = ['missing'];
  },
  'charge cancelled': (builder, at) => {
    const charge = addCharge(builder, at, { dueDate: saoPaulo(at + 3 * dayMs) });
    if (charge.charge) charge.charge.cancelledAt = at;
  },
  'charge not due yet': (builder, at) => {
    addCharge(builder, at, { dueDate: saoPaulo(at + 400 * dayMs) });
  },
  'transfer missing': (builder, at) => {
    addTransfer(builder, at).breaks = ['missing'];
  },
  'transfer rejected': (builder, at) => {
    const transfer = addTransfer(builder, at);
    transfer.operationState = 'rejected';
    transfer.isWithdrawn = true;
  },
  unexpected: (builder, at) => {
    const side = builder.dice.chance(0.7) ? 'CREDIT' : 'DEBIT';
    const isOfOthers = side === 'CREDIT' && builder.dice.chance(0.5);
    builder.addLine({
      ...{ at, typeName: `${side}_PIX`, ...unexplained(builder, side) },
      correlationId: isOfOthers ? builder.uniqueName('foreign') : null,
      proof: { endToEndId: builder.endToEndId() },
    });
  },
  'unknown type': (builder, at) => {
    const side = builder.dice.pick(['CREDIT', 'DEBIT'] as const);
    builder.addLine({
      ...{ at, notes: 'a new kind of movement', ...unexplained(builder, side) },
      typeName: `${side}_${builder.dice.pick(['CASHBACK', 'COURT_ORDER', 'X9'])}`,
      proof: { newField: { nested: ['unknown', 'values'] } },
    });
  },
  fee: (builder, at) => {
    builder.addLine({
      ...{ at, cents: builder.dice.integer(50, 900), typeName: 'DEBIT_FEE' },
      correct: { category: 'fee' },
    });
  },
  'own-account transfer': (builder, at) => {
    const [endToEndId, cents] = [builder.endToEndId(), builder.dice.integer(1_000, 500_000)];
    const holder = { holder: { document: '11222333000181' } };
    builder.ownTransferDebits.push({ endToEndId, cents, at });
    builder.addLine({
      ...{ at, cents, typeName: 'CREDIT_TRANSFER_INTERNAL' },
      proof: { endToEndId, payer: holder, beneficiary: holder },
      correct: { category: 'own_account_transfer' },
    });
  },
  'refund by us': (builder, at) => {
    const paid = addChargeLine(builder, addCharge(builder, at), at, { match: 'payment' });
    const part = builder.dice.chance(0.5) ? paid.cents : builder.dice.integer(1, paid.cents);
    addRefund(builder, paid, at + builder.dice.integer(1, 10 * 24) * hourMs, part);
  },
  'refund by the bank': (builder, at) => {
    const charge = addCharge(builder, at);
    const paid = addChargeLine(builder, charge, at, { match: 'payment' });
    builder.addLine({
      ...{ at: at + builder.dice.integer(1, 10 * 24) * hourMs, cents: paid.cents },
      ...{ typeName: 'DEBIT_PIX_REFUND', payment: charge },
      proof: {
        endToEndId: builder.endToEndId().replace('E', 'D'),
        originalEndToEndId: paid.proof.endToEndId,
      },
      correct: { match: 'reversal' },
    });
  },
  'sent Pix reversed': (builder, at) => {
    const transfer = addTransfer(builder, at);
    addTransferLine(builder, transfer, at, { match: 'payment' });
    builder.addLine({
      ...{ at: at + builder.dice.integer(60_000, dayMs), cents: transfer.cents ?? 0 },
      ...{ typeName: 'CREDIT_PIX_REVERSAL', payment: transfer },
      proof: { endToEndId: transfer.transfer?.endToEndId },
      correct: { match: 'reversal' },
    });
  },
  'debited twice': (builder, at) => {
    const transfer = addTransfer(builder, at);
    const first = addTransferLine(builder, transfer, at, { match: 'payment' });
    const { cents, typeName, proof } = first;
    const later = at + builder.dice.integer(1_000, dayMs);
    builder.addLine({
      ...{ at: later, cents, typeName, proof },
      correct: { breakKind: 'duplicate_payment' },
    });
    transfer.breaks = ['duplicate_payment'];
  },
  'another amount debited': (builder, at) => {
    const transfer = addTransfer(builder, at);
    const proof = { endToEndId: transfer.transfer?.endToEndId };
    const cents = (transfer.cents ?? 0) + 1;
    const correct = { breakKind: 'amount_mismatch' };
    builder.addLine({ at, cents, typeName: 'DEBIT_PIX', proof, correct });
    transfer.breaks = ['amount_mismatch'];
    transfer.mayBeMissing = true;
  },
  'response lost': (builder, at) => {
    const [branch, number] = ['1', `${builder.payments.length + 1_000}`];
    const transfer = builder.addPayment({
      ...{ kind: 'create_transfer', cents: builder.dice.integer(1_000, 90_000), isCredit: false },
      ...{ createdAt: at, operationState: 'unknown' },
      references: [{ kind: 'counterparty', value: `99999999/${branch}/${number}` }],
    });
    builder.addLine({
      ...{ at: at + 1_000, cents: transfer.cents ?? 0, typeName: 'DEBIT_PIX' },
      payment: transfer,
      proof: { beneficiary: { number, branch, participant: { ispb: '99999999' } } },
      correct: { match: 'payment' },
    });
  },
};
