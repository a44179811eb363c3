import type { SandboxAccount } from '../accounts/party.js';
import { maxBalanceCents } from '../ledger/movement.js';
import { repeatedQrPayment, paidPixSlip, paidSlip, paidStaticQr } from './charge-lines.js';
import { feeLine, paidBill } from './other-debit-lines.js';
import {
  randomPerson,
  pixRefund,
  receivedPix,
  sentPix,
  type ReceivedPix,
  type RefundablePix,
} from './pix-lines.js';
import type { LineInputs, PlannedLine } from './planned-line.js';
import { SeededRandom } from './seeded-random.js';

/** The state of the account from which a batch of lines is planned. */
export interface LinePlanStart {
  /** Different for each batch, because two batches with one seed would create the same ids. */
  seed: string;
  account: SandboxAccount;
  /** The key to which its charges are paid. */
  pixKey: string;
  balanceCents: bigint;
  /** The blocked part of the balance, which no debit may use. */
  blockedCents: bigint;
  nextChargeId: () => bigint;
  /** The time of a position, never before the time of a lower position. It may be a fraction. */
  timeOf: (position: number) => Date;
}

/** Kinds of lines, each with its share in percent. */
const credits = [
  ['pix-slip', 26],
  ['slip', 22],
  ['static-qr', 14],
  ['unexpected-pix', 10],
] as const;
const debits = [
  ['sent-pix', 15],
  ['bill', 5],
  ['fee', 5],
  ['refund', 3],
] as const;
type CreditKind = (typeof credits)[number][0];
type DebitKind = (typeof debits)[number][0];

const minCents = 100;
const maxCents = 5_000_000;
const minFeeCents = 50;
const feeCents = 450;
/** How many received Pix and QR codes are stored for later refunds and payments. */
const sampleSize = 64;
const maxPaymentsOfQr = 6;

/**
 * Plans an endless sequence of lines from `start` on. Each line fits the balance after the lines
 * before it. Throws RangeError when the account can be neither debited nor credited.
 */
export class LinePlan {
  private readonly random: SeededRandom;
  private readonly refundable: RefundablePix[] = [];
  private readonly openQrs: {
    correlationId: string;
    paymentsLeft: number;
    amountCents: bigint | null;
  }[] = [];
  private balanceCents: bigint;

  constructor(private readonly start: LinePlanStart) {
    this.random = new SeededRandom(start.seed);
    this.balanceCents = start.balanceCents;
  }

  /** The line at a position, which must be higher than the position before. */
  next(position: number): PlannedLine {
    const at = this.start.timeOf(position + this.random.fraction());
    const maxCreditCents = maxBalanceCents - this.balanceCents;
    const maxDebitCents = this.balanceCents - this.start.blockedCents;
    const kind = this.draw();
    const isDebit = debits.some(([debit]) => debit === kind);
    if (maxCreditCents <= 0n && maxDebitCents <= 0n)
      throw new RangeError('the account can be neither debited nor credited');
    // Without an available balance the line is a credit; at the balance limit it is a debit.
    const line =
      (isDebit && maxDebitCents > 0n) || maxCreditCents <= 0n
        ? this.debit(isDebit ? (kind as DebitKind) : 'sent-pix', at, maxDebitCents)
        : this.credit(isDebit ? 'unexpected-pix' : (kind as CreditKind), at, maxCreditCents);
    this.balanceCents += line.changeCents;
    return line;
  }

  private draw(): CreditKind | DebitKind {
    let percentile = this.random.below(100);
    for (const [kind, share] of [...credits, ...debits]) {
      if (percentile < share) return kind;
      percentile -= share;
    }
    return 'fee';
  }

  private credit(kind: CreditKind, at: Date, maxCreditCents: bigint): PlannedLine {
    const inputs = this.inputs(at, smaller(this.amount(), maxCreditCents));
    switch (kind) {
      case 'slip':
        return paidSlip(inputs);
      case 'pix-slip':
        return this.sampleRefundable(paidPixSlip(inputs));
      case 'static-qr':
        return this.payQr(inputs, maxCreditCents);
      case 'unexpected-pix': {
        const type = this.random.below(3) === 0 ? 'PIX_MANUAL' : 'PIX_KEY';
        const payer = randomPerson(this.random);
        return this.sampleRefundable(receivedPix(inputs, { type, correlationId: null, payer }));
      }
    }
  }

  /** Pays an earlier QR code again in two of three cases, if there is one. */
  private payQr(inputs: LineInputs, maxCreditCents: bigint): PlannedLine {
    const open = this.random.below(3) > 0 ? this.openQrs[this.random.below(sampleSize)] : undefined;
    if (open && open.paymentsLeft > 0 && (open.amountCents ?? 0n) <= maxCreditCents) {
      open.paymentsLeft -= 1;
      const amountCents = open.amountCents ?? inputs.amountCents;
      return this.sampleRefundable(
        repeatedQrPayment({ ...inputs, amountCents }, open.correlationId),
      );
    }
    const paid = paidStaticQr(inputs);
    const { charge } = paid.line;
    if (charge) {
      const { correlationId, amountCents } = charge;
      const paymentsLeft = this.random.below(maxPaymentsOfQr);
      this.sample(this.openQrs, { correlationId, paymentsLeft, amountCents });
    }
    return this.sampleRefundable(paid);
  }

  private debit(kind: DebitKind, at: Date, maxDebitCents: bigint): PlannedLine {
    if (kind === 'refund') {
      const original = this.refundable[this.random.below(this.refundable.length)];
      if (original && original.refundableCents > 0n)
        return this.refund(original, at, maxDebitCents);
    }
    if (kind === 'fee') {
      const cents = BigInt(minFeeCents + this.random.below(feeCents));
      return feeLine(this.inputs(at, smaller(cents, maxDebitCents)));
    }
    const inputs = this.inputs(at, smaller(this.amount(), maxDebitCents));
    return kind === 'bill' ? paidBill(inputs) : sentPix(inputs);
  }

  /** Every second refund is of the full refundable amount, the others of a part. */
  private refund(original: RefundablePix, at: Date, maxDebitCents: bigint): PlannedLine {
    const { refundableCents } = original;
    const percent = BigInt(1 + this.random.below(99));
    const partCents =
      this.random.below(2) === 0 ? refundableCents : (refundableCents * percent) / 100n + 1n;
    const cents = smaller(smaller(partCents, refundableCents), maxDebitCents);
    original.refundableCents -= cents;
    return pixRefund(this.inputs(at, cents), original);
  }

  /** Many small amounts and few large ones: around R$ 120, one in a hundred above R$ 1,500. */
  private amount(): bigint {
    const cents = Math.round(12_000 * Math.exp(1.1 * this.random.normal()));
    return BigInt(Math.min(maxCents, Math.max(minCents, cents)));
  }

  private inputs(at: Date, amountCents: bigint): LineInputs {
    const { account, pixKey, nextChargeId } = this.start;
    const { random } = this;
    return { account, pixKey, nextChargeId, random, amountCents, at };
  }

  private sampleRefundable({ line, refundable }: ReceivedPix): PlannedLine {
    this.sample(this.refundable, refundable);
    return line;
  }

  /** Adds an item to a sample; a full sample loses a random item. */
  private sample<Item>(items: Item[], item: Item): void {
    if (items.length < sampleSize) items.push(item);
    else items[this.random.below(sampleSize)] = item;
  }
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
