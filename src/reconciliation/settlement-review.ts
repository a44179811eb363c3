// What is wrong with what was paid of a charge or QR code, though its lines are matched. Said anew from all of its lines
// each time, in the order in which they happened, so that the order in which they came changes nothing.
import { saoPauloDay } from '../brazil/statement-day.js';
import { readAdjustments } from '../contract/charge-terms.js';
import { paymentsLeft, owedWhenPaid, type ExpectedTerms } from '../expected-payments/settlement.js';
import { formatReais } from '../money/cents.js';
import { subjectOfExpected, subjectOfLine } from './break-subjects.js';
import type { SettlementBreakKind } from './line-outcome.js';
import { byTime } from './payments.js';

export interface ReviewedPayment {
  nsu: bigint;
  occurredAt: Date;
  /** By which it was matched: `hand` where a person said that it pays this. */
  rule: string;
  amountCents: bigint;
  /** What of it has gone back to the payer. */
  refundedCents: bigint;
  /** What a declared rule counted as owed in all, within its tolerance; null where none did. */
  toleratedCents: bigint | null;
}

export interface ReviewedCredit extends ExpectedTerms {
  expectedPaymentId: string;
  isMultiUse: boolean;
  /** When the bank was found to have withdrawn the charge, and when to have let it expire, by its clock. */
  cancelledAt: Date | null;
  expiredAt: Date | null;
  payments: ReviewedPayment[];
}

export interface Finding {
  kind: SettlementBreakKind;
  subject: string;
  nsu: bigint;
  amountCents: bigint;
  expectedPaymentId: string;
  evidence: object;
}

/** The surer to be given back, the sooner told: a line has one break at most. */
const precedence: readonly SettlementBreakKind[] = [
  'paid_after_cancellation',
  'duplicate_payment',
  'overpaid',
  'underpaid',
  'paid_after_expiry',
];
const rankOf = ({ kind }: Finding): number => precedence.indexOf(kind);

/** Every break that should be open for these. */
export function findSettlementBreaks(credits: readonly ReviewedCredit[]): Finding[] {
  const byNsu = new Map<bigint, Finding>();
  for (const finding of credits.flatMap(findOf)) {
    const other = byNsu.get(finding.nsu);
    byNsu.set(finding.nsu, other ? worse(other, finding) : finding);
  }
  return [...byNsu.values()];
}

/** Of one line that pays several: the worse, and of two alike what both come to. */
function worse(one: Finding, other: Finding): Finding {
  if (rankOf(one) !== rankOf(other)) return rankOf(one) < rankOf(other) ? one : other;
  const [first] = [one, other].sort((a, b) => (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1));
  return { ...(first ?? one), amountCents: one.amountCents + other.amountCents };
}

function findOf(credit: ReviewedCredit): Finding[] {
  const kept = paymentsLeft(credit.payments)
    .map((payment) => ({ ...payment, netCents: payment.amountCents - payment.refundedCents }))
    .sort(byTime);
  return credit.isMultiUse ? findOfQr(credit, kept) : findOfCharge(credit, kept);
}

type Kept = ReviewedPayment & { netCents: bigint };

/** Each payment of a QR code stands for itself: none is one too many. */
function findOfQr(credit: ReviewedCredit, kept: readonly Kept[]): Finding[] {
  return kept.flatMap((payment) => {
    const { nsu, amountCents: paid, netCents: net, toleratedCents } = payment;
    const owed = toleratedCents ?? credit.amountCents;
    if (owed === null) return [];
    const told = { credit, nsu, evidence: { owed: formatReais(owed), paid: formatReais(paid) } };
    if (net > owed) return [finding({ ...told, kind: 'overpaid', amountCents: net - owed })];
    if (paid < owed) return [finding({ ...told, kind: 'underpaid', amountCents: owed - paid })];
    return [];
  });
}

function findOfCharge(credit: ReviewedCredit, kept: readonly Kept[]): Finding[] {
  const findings: Finding[] = [];
  // A payment of which a part was given back has settled the charge all the same: what comes after it is one too many.
  let grossCents = 0n;
  let netCents = 0n;
  let isSettled = false;
  let owed: bigint | null = credit.amountCents;
  for (const payment of kept) {
    const { nsu, occurredAt } = payment;
    const wasSettled: boolean = isSettled;
    grossCents += payment.amountCents;
    netCents += payment.netCents;
    const day = saoPauloDay(occurredAt);
    if (!wasSettled) owed = payment.toleratedCents ?? owedWhenPaid(credit, grossCents, day);
    isSettled = wasSettled || (owed !== null && grossCents >= owed);
    const excessCents: bigint = owed === null ? 0n : netCents - owed;
    const kind = kindOf(credit, payment, wasSettled, excessCents);
    if (kind === null) continue;
    const amountCents = kind === 'overpaid' ? excessCents : payment.netCents;
    findings.push(
      finding({ credit, nsu, kind, amountCents, evidence: evidenceOf(owed, grossCents) }),
    );
  }
  const last = kept.at(-1);
  const rest = last ? restOf(credit, grossCents, last) : 0n;
  const ofLast = findings.find(({ nsu }) => nsu === last?.nsu);
  if (!last || rest <= 0n || (ofLast && ofLast.kind !== 'paid_after_expiry')) return findings;
  // What is still owed is told before that it came late: a line has one break.
  const told = { credit, nsu: last.nsu, evidence: evidenceOf(owed, grossCents) };
  const underpaid = finding({ ...told, kind: 'underpaid', amountCents: rest });
  return [...findings.filter((one) => one !== ofLast), underpaid];
}

function kindOf(
  { cancelledAt, expiredAt, amountCents, terms }: ReviewedCredit,
  { occurredAt, rule }: ReviewedPayment,
  wasSettled: boolean,
  excessCents: bigint,
): SettlementBreakKind | null {
  if (isAfterCancellation(rule, occurredAt, cancelledAt)) return 'paid_after_cancellation';
  if (amountCents !== null && wasSettled) return 'duplicate_payment';
  if (amountCents !== null && excessCents > 0n) return 'overpaid';
  if (rule === 'manual' || expiredAt === null || occurredAt <= expiredAt) return null;
  return mayBePaidLate(terms) ? null : 'paid_after_expiry';
}

/** Who asks for a fine or interest expects to be paid late: what was owed on that day says whether it is right. */
function mayBePaidLate(terms: string | null): boolean {
  const { fine, interest } = readAdjustments(terms);
  return fine !== null || interest !== null;
}

/**
 * The bank does not call cancelled what it was paid before: whatever its clock says, money that it applied itself came
 * after. What a rule matched came when it came, and who links a payment by hand knows what becomes of the charge, which
 * is often cancelled so that it is not paid twice.
 */
function isAfterCancellation(rule: string, occurredAt: Date, cancelledAt: Date | null): boolean {
  if (cancelledAt === null || rule === 'manual') return false;
  return rule !== 'declared' || occurredAt > cancelledAt;
}

/** What was given back of an instalment may have been so for reasons of the seller's own: it is not claimed again. */
function restOf(credit: ReviewedCredit, grossCents: bigint, last: Kept): bigint {
  const owed =
    last.toleratedCents ?? owedWhenPaid(credit, grossCents, saoPauloDay(last.occurredAt));
  return owed === null ? 0n : owed - grossCents;
}

function evidenceOf(owed: bigint | null, paid: bigint): object {
  return { owed: owed === null ? null : formatReais(owed), paid: formatReais(paid) };
}

function finding({
  credit: { expectedPaymentId, isMultiUse },
  nsu,
  kind,
  amountCents,
  evidence,
}: Pick<Finding, 'nsu' | 'kind' | 'amountCents' | 'evidence'> & {
  credit: ReviewedCredit;
}): Finding {
  const isOfAll = kind === 'underpaid' && !isMultiUse;
  const subject = isOfAll ? subjectOfExpected(expectedPaymentId) : subjectOfLine(nsu);
  return { kind, subject, nsu, amountCents, expectedPaymentId, evidence };
}
