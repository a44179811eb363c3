// The one definition of what was refunded of a received Pix: a function of facts, per Pix. Each
// debit counts once, decided or not: the id on the line says of which Pix it is, then our
// operation, then a person. Settlement, refunds, events, disputes and breaks all use it.
import { addTo } from '../../platform/grouping.js';
import { idOnLine, referenceKinds, type Reference, type ReferenceKind } from './references.js';
import { isReversalType, isUndoingType } from '../../bank-contract/line-types.js';

export interface PixLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  occurredAt: Date;
  idempotencyKey: string | null;
  movementId: string | null;
  endToEndId: string | null;
  originalEndToEndId: string | null;
}

/** A refund of the Pix that we requested. */
export interface OwnRefund {
  expectedPaymentId: string;
  amountCents: bigint;
  references: readonly Reference[];
  /** Rejected or withdrawn: without a line, it moves no money. */
  isOver: boolean;
  matches: readonly { nsu: bigint; amountCents: bigint; role: 'payment' | 'reversal' }[];
}

/** What is known of the refunds of a Pix. Further lines change nothing. */
export interface RefundFacts<Line extends PixLine, Own extends OwnRefund> {
  pix: PixLine;
  lines: readonly Line[];
  own: readonly Own[];
  /** The parts of debits that a person linked to the Pix. */
  links: readonly { nsu: bigint; amountCents: bigint }[];
}

/** A debit, or the part of it, that refunds the Pix. */
export interface RefundingDebit<Line extends PixLine, Own extends OwnRefund> {
  line: Line;
  amountCents: bigint;
  /** The reversed part of it. */
  reversedCents: bigint;
  /** Null if the bank made the refund without our request, as far as is known. */
  own: Own | null;
}

export interface RefundsOfPix<Line extends PixLine = PixLine, Own extends OwnRefund = OwnRefund> {
  /** In the order in which they happened. */
  debits: readonly RefundingDebit<Line, Own>[];
  /** Our refunds that are neither rejected nor withdrawn, and that no debit shows. */
  pending: readonly Own[];
}

/** Whether the debit carries the id of this Pix: as its original, or as its own. */
export function namesPix(debit: PixLine, endToEndId: string | null): boolean {
  if (debit.isCredit || endToEndId === null) return false;
  if (debit.originalEndToEndId !== null) return debit.originalEndToEndId === endToEndId;
  // Some banks show a refund under the id of its Pix.
  return debit.endToEndId === endToEndId && isUndoingType(debit.typeName);
}

export function refundsOfPix<Line extends PixLine, Own extends OwnRefund>(
  facts: RefundFacts<Line, Own>,
): RefundsOfPix<Line, Own> {
  const { pix, own, links } = facts;
  const lines = [...facts.lines].sort(comparePixLines);
  const ownByDebit = assignDebits(facts, lines);
  const linkedCents = new Map(links.map(({ nsu, amountCents }) => [nsu, amountCents]));
  const shown = new Set<Own>();
  const isOfAnother = ({ originalEndToEndId: original }: Line) =>
    original !== null && lines.some((one) => one.isCredit && one.endToEndId === original);
  const debits = lines.flatMap((line): RefundingDebit<Line, Own>[] => {
    if (line.isCredit) return [];
    const isNamed = namesPix(line, pix.endToEndId);
    const refunds = isNamed || !isOfAnother(line) ? (ownByDebit.get(line.nsu) ?? []) : [];
    for (const refund of refunds) shown.add(refund);
    // A link that contradicts an id counts too, until a person decides.
    const amountCents = isNamed
      ? line.amountCents
      : (centsOfOwn(line, refunds) ?? linkedCents.get(line.nsu));
    if (amountCents === undefined) return [];
    return [{ line, amountCents, reversedCents: 0n, own: refunds[0] ?? null }];
  });
  subtractReversals(facts, lines, debits);
  return { debits, pending: own.filter((one) => !one.isOver && !shown.has(one)) };
}

/** A person may have matched the debit to refunds of several Pix. */
function centsOfOwn(line: PixLine, refunds: readonly OwnRefund[]): bigint | undefined {
  if (refunds.length === 0) return undefined;
  const parts = refunds
    .flatMap(({ matches }) => matches)
    .filter(({ nsu, role }) => nsu === line.nsu && role === 'payment');
  return parts.length === 0
    ? line.amountCents
    : parts.reduce((sum, { amountCents }) => sum + amountCents, 0n);
}

/**
 * Our refunds that each debit shows: by a match, or by the ids of our request and its response. The
 * bank may debit one twice.
 */
function assignDebits<Line extends PixLine, Own extends OwnRefund>(
  { pix, own: unordered }: RefundFacts<Line, Own>,
  lines: readonly Line[],
): ReadonlyMap<bigint, Own[]> {
  const own = [...unordered].sort((a, b) => (a.expectedPaymentId < b.expectedPaymentId ? -1 : 1));
  const byDebit = new Map<bigint, Own[]>();
  const shown = new Set<Own>();
  const assign = (nsu: bigint, refund: Own) => {
    addTo(byDebit, nsu, refund);
    shown.add(refund);
  };
  for (const refund of own)
    for (const { nsu, role } of refund.matches) if (role === 'payment') assign(nsu, refund);
  // The id of the Pix itself may stand on each of its refunds: it distinguishes none.
  const namedBy = (refund: Own, kind: ReferenceKind, line: Line) =>
    refund.references.some(
      (one) =>
        one.kind === kind && one.value !== pix.endToEndId && one.value === idOnLine(line, kind),
    );
  for (const kind of referenceKinds)
    for (const line of lines) {
      if (line.isCredit || byDebit.has(line.nsu)) continue;
      const named = own.filter((refund) => namedBy(refund, kind, line));
      const refund = named.find((one) => !shown.has(one)) ?? named[0];
      if (refund) assign(line.nsu, refund);
    }
  return byDebit;
}

/** Each reversal counts once, and never for more than the debits that it reverses. */
function subtractReversals<Line extends PixLine, Own extends OwnRefund>(
  { pix }: RefundFacts<Line, Own>,
  lines: readonly Line[],
  debits: readonly RefundingDebit<Line, Own>[],
): void {
  if (debits.length === 0) return;
  // The Pix came from this account itself: the other leg of its refund is a credit with its id.
  const isOwnPix = lines.some(
    (one) => !one.isCredit && pix.endToEndId === one.endToEndId && !isUndoingType(one.typeName),
  );
  for (const credit of lines) {
    if (!credit.isCredit || credit.nsu === pix.nsu) continue;
    let leftCents = credit.amountCents;
    for (const debit of debits) {
      const isMatched = debit.own?.matches.some(
        ({ nsu, role }) => role === 'reversal' && nsu === credit.nsu,
      );
      if (!isMatched && !isReversalOf(credit, debit.line, { pix, isOwnPix })) continue;
      // Which part of a divided debit was reversed is not known until all of it was.
      if (debit.amountCents < debit.line.amountCents && leftCents < debit.line.amountCents)
        continue;
      const open = debit.amountCents - debit.reversedCents;
      const cents = leftCents < open ? leftCents : open;
      debit.reversedCents += cents;
      leftCents -= cents;
    }
  }
}

function isReversalOf(
  credit: PixLine,
  debit: PixLine,
  { pix, isOwnPix }: { pix: PixLine; isOwnPix: boolean },
): boolean {
  const isReversal = isReversalType(credit.typeName);
  const { endToEndId: id } = debit;
  if (id !== null && [credit.endToEndId, credit.originalEndToEndId].includes(id))
    return isReversal || (id !== pix.endToEndId && !isOwnPix);
  // A reversal that names the Pix alone is of the refund of its amount.
  return (
    isReversal &&
    pix.endToEndId !== null &&
    credit.originalEndToEndId === pix.endToEndId &&
    credit.endToEndId !== pix.endToEndId &&
    credit.amountCents === debit.amountCents
  );
}

export const comparePixLines = (a: PixLine, b: PixLine): number =>
  a.occurredAt.getTime() - b.occurredAt.getTime() || Number(a.nsu - b.nsu);

type Counted = Pick<RefundingDebit<PixLine, OwnRefund>, 'amountCents' | 'reversedCents'>;

/** What these debits refund, less their reversals. */
export const netCentsOf = (debits: readonly Counted[]): bigint =>
  debits.reduce((sum, { amountCents, reversedCents }) => sum + amountCents - reversedCents, 0n);

/** What the statement shows, and our refunds that it does not show yet. */
export function refundedCentsOfPix({ debits, pending }: RefundsOfPix): bigint {
  return pending.reduce((sum, { amountCents }) => sum + amountCents, netCentsOf(debits));
}

/** What can still be refunded of the Pix; never negative. */
export function refundableCents(receivedCents: bigint, refunds: RefundsOfPix): bigint {
  const left = receivedCents - refundedCentsOfPix(refunds);
  return left > 0n ? left : 0n;
}
