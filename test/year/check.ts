// Compares what the service reports of a generated year with the correct results: each line, each
// expected payment, and the totals.
import type { Year } from './generate.js';
import type {
  ReconciledLine,
  ReconciledPayment,
  StatementTotals,
} from './reconciliation-result.js';
import type { YearLine, YearPayment } from './year-builder.js';

export interface YearResult {
  lines: ReconciledLine[];
  payments: Map<string, ReconciledPayment>;
  totals: StatementTotals;
}

/** Counts of one scenario. `wrong…` counts those that differ from the correct result. */
export interface ScenarioCounts {
  lines: number;
  wrongLines: number;
  payments: number;
  wrongPayments: number;
}

export interface YearCheck {
  findings: string[];
  scenarios: Map<string, ScenarioCounts>;
}

export function checkYear(year: Year, result: YearResult): YearCheck {
  const scenarios = new Map<string, ScenarioCounts>();
  const findings: string[] = [];
  const reportedLines = new Map(result.lines.map((line) => [line.nsu, line]));
  for (const line of year.lines) {
    const counts = countsOf(scenarios, line.scenario);
    counts.lines += 1;
    const error = checkLine(line, reportedLines.get(line.nsu));
    if (error === null) continue;
    counts.wrongLines += 1;
    findings.push(`${line.scenario}: line ${line.nsu} (appears ${line.appears}): ${error}`);
  }
  for (const payment of year.builder.payments) {
    const counts = countsOf(scenarios, payment.scenario);
    counts.payments += 1;
    const error = checkPayment(payment, result.payments.get(payment.id));
    if (error === null) continue;
    counts.wrongPayments += 1;
    findings.push(`${payment.scenario}: ${payment.kind} ${payment.id}: ${error}`);
  }
  return { findings: [...checkTotals(year, result), ...findings], scenarios };
}

function countsOf(scenarios: Map<string, ScenarioCounts>, scenario: string): ScenarioCounts {
  const existing = scenarios.get(scenario);
  if (existing) return existing;
  const counts = { lines: 0, wrongLines: 0, payments: 0, wrongPayments: 0 };
  scenarios.set(scenario, counts);
  return counts;
}

/** Null where the line is correct. */
function checkLine(line: YearLine, reported: ReconciledLine | undefined): string | null {
  if (!reported) return 'is not synced';
  if (reported.cents !== line.cents || reported.isCredit !== line.isCredit)
    return `is ${line.cents} ${line.typeName}, but was synced as ${reported.cents}`;
  const expected = describeCorrect(line);
  const actual = describeReported(reported);
  return expected === actual ? null : `expected ${expected}, got ${actual}`;
}

function describeCorrect({ correct, payment, cents }: YearLine): string {
  const { match, category, breakKind } = correct;
  return describe({
    matches: match ? [`${match} of ${cents} to ${payment?.id}`] : [],
    category,
    breaks: breakKind ? [breakKind] : [],
    isPending: false,
  });
}

function describeReported({ matches, category, breaks, isPending }: ReconciledLine): string {
  const texts = matches.map(({ role, cents, paymentId }) => `${role} of ${cents} to ${paymentId}`);
  return describe({ matches: texts, category, breaks, isPending });
}

interface Explanation {
  matches: string[];
  category: string | null;
  breaks: string[];
  isPending: boolean;
}

function describe({ matches, category, breaks, isPending }: Explanation): string {
  const parts = [
    ...matches,
    ...(category ? [`classified ${category}`] : []),
    ...breaks.map((kind) => `in a break ${kind}`),
    ...(isPending ? ['pending'] : []),
  ];
  return parts.join(' and ') || 'no explanation';
}

/** Null where the payment is correct. */
function checkPayment(
  payment: YearPayment,
  reported: ReconciledPayment | undefined,
): string | null {
  if (!reported) return 'is not stored';
  if (reported.paidCents !== payment.paidCents)
    return `expected ${payment.paidCents} cents paid, got ${reported.paidCents}`;
  const optional = payment.mayBeMissing ? ['missing'] : [];
  const actual = reported.breaks.filter((kind) => !optional.includes(kind)).join(', ') || 'none';
  const expected = payment.breaks.join(', ') || 'none';
  return expected === actual ? null : `expected open breaks: ${expected}; got: ${actual}`;
}

function checkTotals(year: Year, { totals }: YearResult): string[] {
  const sum = (isCredit: boolean) =>
    year.lines
      .filter((line) => line.isCredit === isCredit)
      .reduce((total, { cents }) => total + cents, 0);
  const check = (name: string, expected: unknown, actual: unknown) =>
    expected === actual
      ? []
      : [`statement totals: ${name}: expected ${String(expected)}, got ${String(actual)}`];
  return [
    ...check('lines', year.lines.length, totals.lines),
    ...check('credits in cents', sum(true), totals.creditCents),
    ...check('debits in cents', sum(false), totals.debitCents),
    ...check('balance in cents', year.closingCents, totals.balanceCents),
    ...check('balance chain without gaps', true, totals.isWithoutGaps),
    ...check('pending lines', 0, totals.pendingLines),
  ];
}
