import type { BankAccount } from '../accounts/party.js';
import { maxBalanceCents } from '../ledger/movement.js';
import { paidAgain, paidPixSlip, paidSlip, paidStaticQr } from './charge-lines.js';
import { fee, paidBill } from './other-debit-lines.js';
import {
  anybody,
  pixRefund,
  receivedPix,
  sentPix,
  type ReceivedPix,
  type RefundablePix,
} from './pix-lines.js';
import type { LineMaking, PlannedLine } from './planned-line.js';
import { SeededRandom } from './seeded-random.js';

/** Where a batch of lines begins. */
export interface PlanStart {
  /** Two batches with one seed would give out the same ids. */
  seed: string;
  account: BankAccount;
  /** Under which its charges are paid. */
  pixKey: string;
  balanceCents: bigint;
  /** Part of the balance that no debit may take. */
  blockedCents: bigint;
  takeChargeId: () => bigint;
  /** The time of a line, never before that of a line with a lower place; places are not whole numbers. */
  timeOf: (place: number) => Date;
}

/** Kinds of lines with how many of a hundred each is. */
const credits = [
  ['pix-slip', 26],
  ['slip', 22],
  ['static-qr', 14],
  ['unasked-pix', 10],
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
/** How many received Pix, and QR codes, are remembered for what refers to them. */
const remembered = 64;
const maxPaymentsOfQr = 6;

/**
 * Lines that follow one another from `start` on, without end: each fits the balance that the ones before it leave.
 * Throws RangeError when an account can neither give nor take a cent.
 */
export class Plan {
  private readonly random: SeededRandom;
  private readonly refundable: RefundablePix[] = [];
  private readonly openQrs: { correlationId: string; left: number; amountCents: bigint | null }[] =
    [];
  private balanceCents: bigint;

  constructor(private readonly start: PlanStart) {
    this.random = new SeededRandom(start.seed);
    this.balanceCents = start.balanceCents;
  }

  /** The line at a place, which is higher than the one before. */
  next(place: number): PlannedLine {
    const at = this.start.timeOf(place + this.random.fraction());
    const room = maxBalanceCents - this.balanceCents;
    const free = this.balanceCents - this.start.blockedCents;
    const kind = this.draw();
    const isDebit = debits.some(([debit]) => debit === kind);
    if (room <= 0n && free <= 0n) throw new RangeError('the account can neither give nor take');
    // An account that has nothing takes, and one that is full gives.
    const line =
      (isDebit && free > 0n) || room <= 0n
        ? this.debit(isDebit ? (kind as DebitKind) : 'sent-pix', at, free)
        : this.credit(isDebit ? 'unasked-pix' : (kind as CreditKind), at, room);
    this.balanceCents += line.changeCents;
    return line;
  }

  private draw(): CreditKind | DebitKind {
    let place = this.random.below(100);
    for (const [kind, share] of [...credits, ...debits]) {
      if (place < share) return kind;
      place -= share;
    }
    return 'fee';
  }

  private credit(kind: CreditKind, at: Date, room: bigint): PlannedLine {
    const making = this.making(at, least(this.amount(), room));
    switch (kind) {
      case 'slip':
        return paidSlip(making);
      case 'pix-slip':
        return this.remember(paidPixSlip(making));
      case 'static-qr':
        return this.payQr(making, room);
      case 'unasked-pix': {
        const type = this.random.below(3) === 0 ? 'PIX_MANUAL' : 'PIX_KEY';
        const payer = anybody(this.random);
        return this.remember(receivedPix(making, { type, correlationId: null, payer }));
      }
    }
  }

  /** A code that stands is paid again, two times in three. */
  private payQr(making: LineMaking, room: bigint): PlannedLine {
    const open = this.random.below(3) > 0 ? this.openQrs[this.random.below(remembered)] : undefined;
    if (open && open.left > 0 && (open.amountCents ?? 0n) <= room) {
      open.left -= 1;
      const amountCents = open.amountCents ?? making.amountCents;
      return this.remember(paidAgain({ ...making, amountCents }, open.correlationId));
    }
    const paid = paidStaticQr(making);
    const { charge } = paid.line;
    if (charge) {
      const { correlationId, amountCents } = charge;
      const left = this.random.below(maxPaymentsOfQr);
      this.keep(this.openQrs, { correlationId, left, amountCents });
    }
    return this.remember(paid);
  }

  private debit(kind: DebitKind, at: Date, free: bigint): PlannedLine {
    if (kind === 'refund') {
      const original = this.refundable[this.random.below(this.refundable.length)];
      if (original && original.leftCents > 0n) return this.refund(original, at, free);
    }
    if (kind === 'fee') {
      const cents = BigInt(minFeeCents + this.random.below(feeCents));
      return fee(this.making(at, least(cents, free)));
    }
    const making = this.making(at, least(this.amount(), free));
    return kind === 'bill' ? paidBill(making) : sentPix(making);
  }

  /** In full every second time, else a part of it. */
  private refund(original: RefundablePix, at: Date, free: bigint): PlannedLine {
    const { leftCents } = original;
    const share = BigInt(1 + this.random.below(99));
    const part = this.random.below(2) === 0 ? leftCents : (leftCents * share) / 100n + 1n;
    const cents = least(least(part, leftCents), free);
    original.leftCents -= cents;
    return pixRefund(this.making(at, cents), original);
  }

  /** Many small amounts and few large ones: around R$ 120, one in a hundred above R$ 1,500. */
  private amount(): bigint {
    const cents = Math.round(12_000 * Math.exp(1.1 * this.random.normal()));
    return BigInt(Math.min(maxCents, Math.max(minCents, cents)));
  }

  private making(at: Date, amountCents: bigint): LineMaking {
    const { account, pixKey, takeChargeId } = this.start;
    const { random } = this;
    return { account, pixKey, takeChargeId, random, amountCents, at };
  }

  private remember({ line, refundable }: ReceivedPix): PlannedLine {
    this.keep(this.refundable, refundable);
    return line;
  }

  private keep<Item>(items: Item[], item: Item): void {
    if (items.length < remembered) items.push(item);
    else items[this.random.below(remembered)] = item;
  }
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
