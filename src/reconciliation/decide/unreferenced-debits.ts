// Debits whose ids name no expected payment. Such a debit can only be a payment of an operation
// without a response: it has the amount, and shares the refunded Pix or the counterparty with it.
import { addTo } from '../../platform/grouping.js';
import type { ExpectedPaymentFacts, StatementLineFacts } from './model.js';
import { pay } from './by-reference.js';
import { lineReferences, named, type Component, type Named } from './component.js';

/** More payments of one amount than this cannot be distinguished. */
const maxCandidates = 50;
/** The bank's response may still contain ids, and those ids then decide. */
const statesBeingSent: readonly (string | null)[] = ['received', 'sending'];

type SharedReference = 'original' | 'counterparty' | null;

/** The debits of operations without a response, by amount, the oldest first. */
export type UnconfirmedDebits = ReadonlyMap<bigint, readonly ExpectedPaymentFacts[]>;

export function unconfirmedDebits(payments: readonly ExpectedPaymentFacts[]): UnconfirmedDebits {
  const byAmount = new Map<bigint, ExpectedPaymentFacts[]>();
  for (const payment of [...payments].sort(compareByAge)) {
    const { isCredit, isWithoutResponse, amountCents } = payment;
    if (isCredit || !isWithoutResponse || amountCents === null) continue;
    addTo(byAmount, amountCents, payment);
  }
  return byAmount;
}

/** Decides the debit if an operation without a response explains it; otherwise leaves it open. */
export function payUnreferenced(
  component: Component,
  line: StatementLineFacts,
  debits: UnconfirmedDebits,
): void {
  if (line.occurredAt < component.facts.goLiveAt) return;
  // A refund of a received Pix is not a payment to the same counterparty.
  const refundsCredit = component
    .linesWithEndToEndId(line.originalEndToEndId)
    .some(({ isCredit }) => isCredit);
  const open = (debits.get(line.amountCents) ?? [])
    .filter(
      (payment) =>
        component.paidCents(payment.id) === 0n &&
        !component.isSeparated(line, payment.id) &&
        payment.effect !== null &&
        payment.effect.from <= line.occurredAt &&
        !contradicts(line, payment),
    )
    .map((payment) => ({ ...shareOf(line, payment), payment }))
    .filter(({ shared }) => shared === 'original' || !refundsCredit)
    .slice(0, maxCandidates);
  const isInProgress = open.some(({ payment }) => mayStillExplain(line, payment));
  const fitting = open.filter(({ payment }) => !isKnownToBank(payment) && isInTime(line, payment));
  const byOriginal = fitting.filter(({ shared }) => shared === 'original');
  const candidates =
    byOriginal.length > 0 ? byOriginal : fitting.filter(({ shared }) => shared !== null);
  const [oldest] = candidates;
  const isPending = candidates.some(({ payment }) =>
    statesBeingSent.includes(payment.operationState),
  );
  if (isPending) return wait(component, line, 'operation');
  // Refunds of one Pix with one amount are interchangeable; payments to one account are not.
  if (oldest && byOriginal.length > 0) return pay(component, line, oldest, 'original');
  if (oldest && candidates.length === 1) return pay(component, line, oldest, 'counterparty');
  if (isInProgress) return wait(component, line, 'operation');
  if (oldest) component.leaveUnmatched(line, 'ambiguous', { candidates });
}

export function wait(
  component: Component,
  { nsu }: StatementLineFacts,
  waitsFor: 'operation' | 'line',
): void {
  component.unmatched.set(nsu, { outcome: 'pending', waitsFor });
}

/** An operation in progress cannot explain a line after its last possible effect. */
function mayStillExplain(line: StatementLineFacts, payment: ExpectedPaymentFacts): boolean {
  const isInProgress =
    statesBeingSent.includes(payment.operationState) || payment.operationState === 'unknown';
  return isInProgress && isInTime(line, payment);
}

function isInTime({ occurredAt }: StatementLineFacts, { effect }: ExpectedPaymentFacts): boolean {
  return effect !== null && occurredAt <= effect.until;
}

/**
 * Whether it has an id that only the bank assigns: a line that pays it would carry that id. An
 * endToEndId proves nothing: a key look-up assigns it before the payment is sent.
 */
function isKnownToBank({ references }: ExpectedPaymentFacts): boolean {
  return references.some(({ kind }) => kind === 'nsu' || kind === 'movement_id');
}

/** Different ids of one kind, or different counterparties: the line is not the payment. */
function contradicts(line: StatementLineFacts, payment: ExpectedPaymentFacts): boolean {
  const differs = (kind: string, values: readonly string[]) => {
    const own = valuesOf(payment, kind);
    return own.length > 0 && values.length > 0 && !own.some((value) => values.includes(value));
  };
  const { originalEndToEndId: original } = line;
  return (
    lineReferences(line).some(({ kind, value }) => differs(kind, [value])) ||
    differs('original_end_to_end_id', original === null ? [] : [original]) ||
    differs('counterparty', counterpartiesOf(line))
  );
}

/** What the line and the payment share: the refunded Pix, or else the counterparty. */
function shareOf(
  line: StatementLineFacts,
  payment: ExpectedPaymentFacts,
): Named & { shared: SharedReference } {
  const { originalEndToEndId: original } = line;
  if (original !== null && valuesOf(payment, 'original_end_to_end_id').includes(original))
    return { ...named('original_end_to_end_id', original, payment), shared: 'original' };
  const counterparties = counterpartiesOf(line);
  const [own = ''] = valuesOf(payment, 'counterparty');
  const shared = counterparties.includes(own) ? 'counterparty' : null;
  return { ...named('counterparty', own, payment), shared };
}

function valuesOf({ references }: ExpectedPaymentFacts, wanted: string): string[] {
  return references.filter(({ kind }) => kind === wanted).map(({ value }) => value);
}

/** A client may know only the account number of a counterparty at the same bank. */
function counterpartiesOf({ counterparty }: StatementLineFacts): string[] {
  if (counterparty === null) return [];
  const number = counterparty.split('/')[2];
  return number ? [counterparty, number] : [counterparty];
}

function compareByAge(a: ExpectedPaymentFacts, b: ExpectedPaymentFacts): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}
