// The notices of an account's debits: sums over 24 hours, then the table of who is notified.
import {
  noticeOf,
  type DebitEvidence,
  type DebitNotice,
  type DebitRow,
  type DebitSurroundings,
} from '../../reconciliation/decide/debit-notice.js';
import type { DeclaredDebit } from '../../outbound/payment-controls/payment-controls.schema.js';
import { groupBy } from '../../platform/grouping.js';

const dayMs = 86_400_000;

export interface FoundDebit extends Omit<
  DebitSurroundings,
  'isWithinDeclaredType' | 'isAboveThreshold'
> {
  nsu: bigint;
  amountCents: bigint;
  typeName: string;
  counterparty: string | null;
  /** At the bank. */
  occurredAt: Date;
  evidence: DebitEvidence;
}

export interface NotedNotice {
  nsu: bigint;
  amountCents: bigint;
  row: DebitRow;
  notice: DebitNotice;
}

/** What the account declares. */
export interface DebitGuard {
  alarmAbove: bigint | null;
  declaredDebits: readonly DeclaredDebit[];
}

export function noticesOf(debits: readonly FoundDebit[], guard: DebitGuard): NotedNotice[] {
  const ordered = [...debits].sort(
    (a, b) => a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1),
  );
  const within = new Set<bigint>();
  const byDeclaration = groupBy(ordered, (debit) =>
    guard.declaredDebits.find((declared) => isOf(debit, declared)),
  );
  for (const [declared, ofType] of byDeclaration)
    for (const [nsu, cents] of sumsOfDay(ofType))
      if (declared && cents <= declared.maximum) within.add(nsu);
  const find = (debit: FoundDebit, isAboveThreshold: boolean) =>
    noticeOf({
      ...debit.evidence,
      ...debit,
      ...{ isWithinDeclaredType: within.has(debit.nsu), isAboveThreshold },
    });
  const unexplained = ordered.filter((debit) => find(debit, false).row === 'unexplained');
  const sums = sumsOfDay(unexplained);
  return ordered.map((debit) => {
    const { nsu, amountCents } = debit;
    const isAbove = guard.alarmAbove === null || (sums.get(nsu) ?? 0n) > guard.alarmAbove;
    return { nsu, amountCents, ...find(debit, isAbove) };
  });
}

function isOf({ typeName, counterparty }: FoundDebit, declared: DeclaredDebit): boolean {
  const { counterparty: payee } = declared;
  return typeName === declared.typeName && (payee === null || payee === counterparty);
}

/** Of each debit the sum of the 24 hours that end with it. The debits are in order of time. */
function sumsOfDay(ordered: readonly FoundDebit[]): Map<bigint, bigint> {
  const sums = new Map<bigint, bigint>();
  let [first, sum] = [0, 0n];
  for (const { nsu, amountCents, occurredAt } of ordered) {
    sum += amountCents;
    const from = occurredAt.getTime() - dayMs;
    for (let one = ordered[first]; one && one.occurredAt.getTime() <= from; one = ordered[first]) {
      sum -= one.amountCents;
      first += 1;
    }
    sums.set(nsu, sum);
  }
  return sums;
}
