// What happens on a busy account, each with its truth: ordinary business, and each trouble alone.
import { amountOwed } from '../../src/brazil/amount-owed.js';
import { addDays } from '../../src/brazil/calendar.js';
import { saoPauloDay } from '../../src/brazil/statement-day.js';
import { writeAdjustments } from '../../src/contract/charge-terms.js';
import type { Book, Expectation, Line } from './book.js';
import { pay, receive, send, transferOf, type Terms } from './things.js';

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;

/** `at` lies in the year, with twelve days of it left. */
export type Scenario = (book: Book, at: number) => void;

const saoPaulo = (at: number) => saoPauloDay(new Date(at));

function exactCharge(book: Book, at: number): void {
  pay(book, receive(book, at), at, { match: 'payment' });
}

/** What is owed follows the day: early with a discount, or late with fine and interest. */
function chargeWithTerms(book: Book, at: number): void {
  const isLate = book.dice.chance(0.5);
  const payDay = saoPaulo(at);
  const dueDate = addDays(payDay, isLate ? -book.dice.integer(6, 20) : book.dice.integer(3, 20));
  const adjusted = {
    discounts: [{ isPercentage: true, date: addDays(dueDate, -1), amount: 500n }],
    fine: { isPercentage: true, date: addDays(dueDate, 1), amount: 200n },
    interest: { isPercentage: true, date: addDays(dueDate, 1), amount: 100n },
  };
  const terms: Terms = { dueDate, terms: writeAdjustments(adjusted) };
  const charge = receive(book, at, terms);
  const amountCents = BigInt(charge.cents ?? 0);
  const cents = Number(amountOwed({ amountCents, dueDate, ...adjusted }, payDay));
  pay(book, charge, at, { match: 'payment' }, cents);
}

function instalments(book: Book, at: number): void {
  const charge = receive(book, at);
  const whole = charge.cents ?? 0;
  const first = book.dice.integer(1, whole - 1);
  pay(book, charge, at, { match: 'payment' }, first);
  pay(book, charge, at + book.dice.integer(1, 5) * dayMs, { match: 'payment' }, whole - first);
}

/** One code, paid many times with what each payer chose. */
function staticQr(book: Book, at: number): void {
  const correlationId = book.name('qr');
  const code = book.expectation({
    ...{ kind: 'create_static_qr', cents: null, isMultiUse: true, createdAt: at - dayMs },
    references: [{ kind: 'correlation_id', value: correlationId }],
    charge: { correlationId, type: 'PIX_STATIC' },
  });
  for (let times = book.dice.integer(1, 12); times > 0; times -= 1) {
    const cents = book.dice.integer(100, 50_000);
    pay(book, code, at + book.dice.integer(0, 11 * dayMs), { match: 'payment' }, cents);
  }
}

function sentPix(book: Book, at: number): void {
  send(book, transferOf(book, at), at, { match: 'payment' });
}

/** One operation with several movements; each line is told by its own id. */
function batch(book: Book, at: number): void {
  const { id, operationId } = transferOf(book, at, { kind: 'create_transfer_batch' });
  const first = book.expectations.at(-1);
  if (first?.id !== id) throw new Error('the batch was not recorded');
  const items = [first];
  for (let more = book.dice.integer(1, 5); more > 0; more -= 1) {
    const item = transferOf(book, at, { kind: 'create_transfer_batch' });
    item.operationId = operationId;
    items.push(item);
  }
  // A batch has one key for all its items: it names none of them.
  for (const item of items) {
    item.references = item.references.filter(({ kind }) => kind !== 'idempotency_key');
    send(book, item, at + book.dice.integer(0, 5_000), { match: 'payment' });
  }
}

function bill(book: Book, at: number): void {
  const billCode = `8${book.dice.digits(43)}`;
  const bankId = book.uuid('bill', billCode);
  const payment = book.expectation({
    ...{ kind: 'pay_bill', cents: book.dice.integer(1_000, 200_000), isCredit: false },
    ...{ createdAt: at - 1_000, billCode },
    references: [
      { kind: 'bill_code', value: billCode },
      { kind: 'movement_id', value: bankId },
    ],
  });
  payment.reportedNsuOf = book.line({
    ...{ at, cents: payment.cents ?? 0, typeName: 'DEBIT_BILL_PAYMENT', expectation: payment },
    proof: { id: bankId, barCode: billCode },
    truth: { match: 'payment' },
  });
}

const ordinaryShares: [number, Scenario][] = [
  [8, exactCharge],
  [3, chargeWithTerms],
  [1, instalments],
  [2, staticQr],
  [5, sentPix],
  [1, batch],
  [2, bill],
];

/** Ordinary business, in its shares. */
export function ordinary(book: Book, at: number): void {
  const total = ordinaryShares.reduce((sum, [share]) => sum + share, 0);
  let left = book.dice.integer(1, total);
  for (const [share, scenario] of ordinaryShares) {
    left -= share;
    if (left <= 0) return scenario(book, at);
  }
}

function paidTwice(book: Book, at: number): [Expectation, Line] {
  const charge = receive(book, at);
  pay(book, charge, at, { match: 'payment' });
  const later = at + book.dice.integer(1, 8 * 24) * hourMs;
  return [charge, pay(book, charge, later, { match: 'payment' })];
}

function refund(book: Book, original: Line, at: number, cents = original.cents): void {
  const originalEndToEndId = String(original.proof.endToEndId);
  const [endToEndId, bankId] = [book.endToEndId().replace('E', 'D'), book.uuid('refund', at)];
  const refunded = book.expectation({
    ...{ kind: 'refund_pix', cents, isCredit: false, createdAt: at - 1_000, refundOf: original },
    references: [
      { kind: 'original_end_to_end_id', value: originalEndToEndId },
      { kind: 'end_to_end_id', value: endToEndId },
      { kind: 'movement_id', value: bankId },
    ],
  });
  refunded.reportedNsuOf = book.line({
    ...{ at, cents, typeName: 'DEBIT_PIX_REFUND', expectation: refunded },
    proof: { id: bankId, endToEndId, originalEndToEndId },
    truth: { match: 'payment' },
  });
}

/** Each trouble, by its name in the report. */
export const troubles: Record<string, Scenario> = {
  'paid twice': (book, at) => {
    const [charge, second] = paidTwice(book, at);
    second.truth.breakKind = 'duplicate_payment';
    charge.breaks = ['duplicate_payment'];
  },
  'paid twice, given back by us': (book, at) => {
    const [, second] = paidTwice(book, at);
    refund(book, second, second.at + dayMs);
  },
  underpaid: (book, at) => {
    const charge = receive(book, at);
    const cents = book.dice.integer(1, (charge.cents ?? 0) - 1);
    pay(book, charge, at, { match: 'payment', breakKind: 'underpaid' }, cents);
    charge.breaks = ['underpaid'];
  },
  overpaid: (book, at) => {
    const charge = receive(book, at);
    const cents = (charge.cents ?? 0) + book.dice.integer(1, 5_000);
    pay(book, charge, at, { match: 'payment', breakKind: 'overpaid' }, cents);
    charge.breaks = ['overpaid'];
  },
  'paid after void': (book, at) => {
    const charge = receive(book, at);
    if (charge.charge) charge.charge.cancelledAt = charge.createdAt + hourMs;
    pay(book, charge, at, { match: 'payment', breakKind: 'paid_after_cancellation' });
    charge.breaks = ['paid_after_cancellation'];
  },
  'paid after expiry': (book, at) => {
    const charge = receive(book, at, { dueDate: saoPaulo(at - 10 * dayMs) });
    if (charge.charge) charge.charge.expiredAt = at - 2 * dayMs;
    pay(book, charge, at, { match: 'payment', breakKind: 'paid_after_expiry' });
    charge.breaks = ['paid_after_expiry'];
  },
  'charge missing': (book, at) => {
    const charge = receive(book, at, { dueDate: saoPaulo(at + 3 * dayMs) });
    if (charge.charge && book.dice.chance(0.5)) charge.charge.expiredAt = at + 8 * dayMs;
    charge.breaks = ['missing'];
  },
  'charge cancelled': (book, at) => {
    const charge = receive(book, at, { dueDate: saoPaulo(at + 3 * dayMs) });
    if (charge.charge) charge.charge.cancelledAt = at;
  },
  'charge not due yet': (book, at) => {
    receive(book, at, { dueDate: saoPaulo(at + 400 * dayMs) });
  },
  'transfer missing': (book, at) => {
    transferOf(book, at).breaks = ['missing'];
  },
  'transfer rejected': (book, at) => {
    const transfer = transferOf(book, at);
    transfer.operationState = 'rejected';
    transfer.isWithdrawn = true;
  },
  unexpected: (book, at) => {
    const isCredit = book.dice.chance(0.7);
    book.line({
      ...{ at, cents: book.dice.integer(100, 90_000) },
      typeName: isCredit ? 'CREDIT_PIX' : 'DEBIT_PIX',
      correlationId: isCredit && book.dice.chance(0.5) ? book.name('foreign') : null,
      proof: { endToEndId: book.endToEndId() },
      truth: { breakKind: 'unexpected' },
    });
  },
  'unknown type': (book, at) => {
    const side = book.dice.pick(['CREDIT', 'DEBIT']);
    book.line({
      ...{ at, cents: book.dice.integer(100, 9_000), notes: 'a kind of movement that is new' },
      typeName: `${side}_${book.dice.pick(['CASHBACK', 'JUDICIAL_ORDER', 'X9'])}`,
      proof: { somethingNew: { that: ['nobody', 'knows'] } },
      truth: { breakKind: 'unexpected' },
    });
  },
  fee: (book, at) => {
    book.line({
      ...{ at, cents: book.dice.integer(50, 900), typeName: 'DEBIT_FEE' },
      truth: { category: 'fee' },
    });
  },
  'own transfer': (book, at) => {
    const [endToEndId, cents] = [book.endToEndId(), book.dice.integer(1_000, 500_000)];
    book.otherSides.push({ endToEndId, cents, at });
    book.line({
      ...{ at, cents, typeName: 'CREDIT_TRANSFER_INTERNAL', proof: { endToEndId } },
      truth: { category: 'own_account_transfer' },
    });
  },
  'refund by us': (book, at) => {
    const paid = pay(book, receive(book, at), at, { match: 'payment' });
    const part = book.dice.chance(0.5) ? paid.cents : book.dice.integer(1, paid.cents);
    refund(book, paid, at + book.dice.integer(1, 10 * 24) * hourMs, part);
  },
  'refund by the bank': (book, at) => {
    const charge = receive(book, at);
    const paid = pay(book, charge, at, { match: 'payment' });
    book.line({
      ...{ at: at + book.dice.integer(1, 10 * 24) * hourMs, cents: paid.cents },
      ...{ typeName: 'DEBIT_PIX_REFUND', expectation: charge },
      proof: {
        endToEndId: book.endToEndId().replace('E', 'D'),
        originalEndToEndId: paid.proof.endToEndId,
      },
      truth: { match: 'reversal' },
    });
  },
  'sent Pix came back': (book, at) => {
    const transfer = transferOf(book, at);
    send(book, transfer, at, { match: 'payment' });
    book.line({
      ...{ at: at + book.dice.integer(60_000, dayMs), cents: transfer.cents ?? 0 },
      ...{ typeName: 'CREDIT_PIX_REVERSAL', expectation: transfer },
      proof: { endToEndId: transfer.transfer?.endToEndId },
      truth: { match: 'reversal' },
    });
  },
  'debited twice': (book, at) => {
    const transfer = transferOf(book, at);
    const first = send(book, transfer, at, { match: 'payment' });
    const { cents, typeName, proof } = first;
    const later = at + book.dice.integer(1_000, dayMs);
    book.line({
      ...{ at: later, cents, typeName, proof },
      truth: { breakKind: 'duplicate_payment' },
    });
    transfer.breaks = ['duplicate_payment'];
  },
  'another amount debited': (book, at) => {
    const transfer = transferOf(book, at);
    const proof = { endToEndId: transfer.transfer?.endToEndId };
    const cents = (transfer.cents ?? 0) + 1;
    const truth = { breakKind: 'amount_mismatch' };
    book.line({ at, cents, typeName: 'DEBIT_PIX', proof, truth });
    transfer.breaks = ['amount_mismatch'];
    transfer.mayBeMissing = true;
  },
  'answer lost': (book, at) => {
    const [branch, number] = ['1', `${book.expectations.length + 1_000}`];
    const transfer = book.expectation({
      ...{ kind: 'create_transfer', cents: book.dice.integer(1_000, 90_000), isCredit: false },
      ...{ createdAt: at, operationState: 'unknown' },
      references: [{ kind: 'counterparty', value: `99999999/${branch}/${number}` }],
    });
    book.line({
      ...{ at: at + 1_000, cents: transfer.cents ?? 0, typeName: 'DEBIT_PIX' },
      expectation: transfer,
      proof: { beneficiary: { number, branch, participant: { ispb: '99999999' } } },
      truth: { match: 'payment' },
    });
  },
};
