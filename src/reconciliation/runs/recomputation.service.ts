// Recomputes what every line means from the facts alone, and compares it with what is stored. A
// difference is an alarm: it is reported and never repaired.
import type { BankProfile } from '../../bank/profiles.js';
import type { Database, Db } from '../../platform/postgres/database.service.js';
import type { ExpectedPaymentTotal } from '../../generated/service/client.js';
import { breakKey } from '../decide/component.js';
import { openBreaks } from '../decide/breaks.js';
import {
  listHealthCountDifferences,
  listReportDifferences,
} from '../../webhooks/health/health-recomputation.queries.js';
import { decide, type Decision } from '../decide/decide.js';
import { decidedBreakKinds, lineBreakKinds, subjectOfOperation } from '../decide/break-kinds.js';
import { lineOutcomes, type DecidedOutcome } from '../decide/line-outcomes.js';
import { totalOfPayment, type PaymentTotal } from '../decide/totals.js';
import { loadOptionsOf } from '../load/component.queries.js';
import { loadAllFacts } from '../load/load.queries.js';
import { listActiveRules } from '../load/rules.queries.js';
import { hasLeafOf, listOutcomeLines } from '../load/line-leaves.queries.js';
import * as queries from './recomputation.queries.js';
import { listRefundDifferences } from './refund-identities.queries.js';

const timeoutMs = 6 * 3_600_000;
const leavesPerPage = 5_000;

/** What is stored of a line or a break, and what the facts mean. */
export interface OutcomeDifference {
  /** `line 7`, or the kind and the subject of a break. */
  subject: string;
  stored: string;
  computed: string;
}

export interface RecomputedAccount {
  account: string;
  lines: number;
  /** Subjects that are due to be decided: they are not compared. */
  due: number;
  differences: OutcomeDifference[];
}

export class Recomputation {
  constructor(
    private readonly database: Database,
    private readonly profile: BankProfile,
  ) {}

  /** Compares one account or all of them, each in a snapshot of its own. */
  async compare(onlySlug?: string): Promise<RecomputedAccount[]> {
    const accounts = await this.database.prisma.bankAccount.findMany({
      ...(onlySlug === undefined ? {} : { where: { slug: onlySlug } }),
      orderBy: { id: 'asc' },
    });
    const compared: RecomputedAccount[] = [];
    for (const { id, slug } of accounts)
      compared.push({ account: slug, ...(await this.compareAccount(id)) });
    return compared;
  }

  async compareAccount(accountId: number): Promise<Omit<RecomputedAccount, 'account'>> {
    return this.database.prisma.$transaction((db) => compareIn(db, accountId, this.profile), {
      ...{ isolationLevel: 'RepeatableRead', maxWait: 10_000, timeout: timeoutMs },
    });
  }
}

async function compareIn(db: Db, accountId: number, profile: BankProfile) {
  const rules = await listActiveRules(db, accountId);
  const facts = await loadAllFacts(db, accountId, loadOptionsOf(profile), rules);
  const decision = decide(facts);
  const due = await queries.listDueSubjects(db, accountId);
  const lines = await queries.listStoredOutcomes(db, accountId, lineBreakKinds);
  const undecided = new Set(lines.filter(({ isUndecided }) => isUndecided).map(({ nsu }) => nsu));
  const isCompared = comparedSubjects(decision, due, undecided);
  const open = openBreaks(decision);
  const outcomes = lineOutcomes(decision, open);
  const storedBreaks = await db.break.findMany({
    where: {
      accountId,
      state: 'open',
      kind: { in: [...decidedBreakKinds] },
      // Breaks of days have another cause.
      NOT: { subject: { startsWith: 'day:' } },
    },
    omit: { evidence: true },
  });
  const totals = await db.expectedPaymentTotal.findMany({ where: { accountId } });
  const differences = [
    ...lines.filter(isCompared).flatMap((line) => differenceOfLine(decision, outcomes, line)),
    ...(await differencesOfLeaves(db, accountId, outcomes, isCompared)),
    ...differencesOfBreaks(storedBreaks.filter(isCompared), open.filter(isCompared)),
    ...differencesOfTotals(decision, totals, (id) => isCompared({ expectedPaymentId: id })),
    ...(await queries.listCounterDifferences(db, accountId)),
    ...(await queries.listTotalDifferences(db, accountId)),
    ...(await listRefundDifferences(db, accountId)).filter(isCompared).map(toDifference),
    ...(await listReportDifferences(db, accountId)),
    ...(await listHealthCountDifferences(db, accountId)),
  ];
  return { lines: facts.lines.length, due: due.length + undecided.size, differences };
}

const toDifference = ({ subject, stored, computed }: OutcomeDifference): OutcomeDifference => ({
  ...{ subject, stored, computed },
});

interface Subject {
  subject?: string;
  nsu?: bigint | null;
  expectedPaymentId?: string | null;
}

/** What is due, undecided, or shares a payment with such a line is decided later. */
function comparedSubjects(
  { component }: Decision,
  due: readonly queries.DueSubject[],
  undecided: ReadonlySet<bigint>,
): (subject: Subject) => boolean {
  if (due.some((one) => !one.nsu && !one.expectedPaymentId && !one.operationId)) return () => false;
  const dueNsus = new Set([...undecided, ...due.flatMap(({ nsu }) => nsu ?? [])]);
  const duePayments = new Set([
    ...due.flatMap(({ expectedPaymentId }) => expectedPaymentId ?? []),
    ...[...dueNsus].flatMap((nsu) =>
      component.allocationsOfLine(nsu).map(({ expectedPaymentId }) => expectedPaymentId),
    ),
  ]);
  const isDuePayment = (id: string) => duePayments.has(id);
  const dueOperations = new Set(
    due.flatMap(({ operationId }) => (operationId === null ? [] : subjectOfOperation(operationId))),
  );
  return ({ nsu = null, expectedPaymentId = null, subject = '' }) => {
    if (dueOperations.has(subject)) return false;
    if (expectedPaymentId !== null && isDuePayment(expectedPaymentId)) return false;
    if (nsu === null) return true;
    const paid = component.allocationsOfLine(nsu);
    return !dueNsus.has(nsu) && !paid.some((one) => isDuePayment(one.expectedPaymentId));
  };
}

function differenceOfLine(
  decision: Decision,
  outcomes: ReadonlyMap<bigint, DecidedOutcome>,
  line: queries.StoredOutcome,
): OutcomeDifference[] {
  const stored = [...line.outcomes, `is ${line.state}`].sort().join(', ');
  const computed = [...describeOutcome(decision, line.nsu), `is ${outcomes.get(line.nsu)?.state}`]
    .sort()
    .join(', ');
  return stored === computed ? [] : [{ subject: `line ${line.nsu}`, stored, computed }];
}

/** Lines whose stored leaf is not that of the computed outcome. */
async function differencesOfLeaves(
  db: Db,
  accountId: number,
  outcomes: ReadonlyMap<bigint, DecidedOutcome>,
  isCompared: (subject: Subject) => boolean,
): Promise<OutcomeDifference[]> {
  const compared = [...outcomes.keys()].filter((nsu) => isCompared({ nsu }));
  const differences: OutcomeDifference[] = [];
  for (let from = 0; from < compared.length; from += leavesPerPage)
    for (const line of await listOutcomeLines(
      db,
      accountId,
      compared.slice(from, from + leavesPerPage),
    )) {
      const outcome = outcomes.get(line.nsu);
      if (outcome && hasLeafOf(accountId, line, outcome)) continue;
      const stored = line.leafHash ? `version ${line.version}` : '';
      differences.push({ subject: `leaf of line ${line.nsu}`, stored, computed: 'another leaf' });
    }
  return differences;
}

/** In the form of `listStoredOutcomes`. */
function describeOutcome({ component }: Decision, nsu: bigint): string[] {
  const outcome = component.unmatched.get(nsu);
  if (outcome?.outcome === 'classified') return [`${outcome.category} by ${outcome.rule}`];
  if (outcome) return outcome.outcome === 'break' ? [outcome.kind] : [];
  return component
    .allocationsOfLine(nsu)
    .map((one) => `${one.role} by ${one.rule} of ${one.expectedPaymentId} ${one.amountCents}`);
}

function differencesOfTotals(
  decision: Decision,
  stored: readonly ExpectedPaymentTotal[],
  isCompared: (expectedPaymentId: string) => boolean,
): OutcomeDifference[] {
  const storedById = new Map(stored.map((total) => [total.expectedPaymentId, total]));
  return [...decision.component.paymentById.values()]
    .filter(({ id }) => isCompared(id))
    .flatMap((payment) => {
      const was = describeTotal(storedById.get(payment.id));
      const is = describeTotal(totalOfPayment(decision, payment));
      const subject = `total of payment ${payment.id}`;
      return was === is ? [] : [{ subject, stored: was, computed: is }];
    });
}

/** Every column: the compiler names one that is not compared. */
function describeTotal(total: PaymentTotal | undefined): string {
  if (!total) return '';
  const compared: { [Column in keyof PaymentTotal]: PaymentTotal[Column] | string } = {
    settlement: total.settlement,
    paymentCount: total.paymentCount,
    paidCents: total.paidCents,
    reversedCents: total.reversedCents,
    refundedCents: total.refundedCents,
    unrefundedCents: total.unrefundedCents,
    lastPaymentDay: total.lastPaymentDay,
    // It moves while it is due.
    deadline: total.deadline ? 'set' : 'none',
  };
  return Object.entries(compared)
    .map(([column, value]) => `${column} ${String(value)}`)
    .join(', ');
}

interface ComparedBreak {
  kind: string;
  subject: string;
  amountCents: bigint | null;
}

function differencesOfBreaks(
  stored: readonly ComparedBreak[],
  computed: readonly ComparedBreak[],
): OutcomeDifference[] {
  const textOf = (one: ComparedBreak | undefined) =>
    one ? `open, ${one.amountCents}` : 'not open';
  const storedByKey = new Map(stored.map((one) => [breakKey(one), one]));
  const computedByKey = new Map(computed.map((one) => [breakKey(one), one]));
  return [...new Set([...storedByKey.keys(), ...computedByKey.keys()])].flatMap((subject) => {
    const was = textOf(storedByKey.get(subject));
    const is = textOf(computedByKey.get(subject));
    return was === is ? [] : [{ subject, stored: was, computed: is }];
  });
}

/** A difference as one sentence. */
export function describeDifference({ subject, stored, computed }: OutcomeDifference): string {
  return `${subject}: stored ${stored || 'nothing'}; computed ${computed || 'nothing'}`;
}
