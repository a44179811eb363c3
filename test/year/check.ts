// Holds the service's book against the true one: each line explained once and rightly, each expectation paid or told,
// and the sums equal to the ledger's.
import type { Expectation, Line } from './book.js';
import type { Year } from './generate.js';
import type { Standing, ReportedExpectation, EventLine } from './read-book.js';

export interface Told {
  lines: EventLine[];
  expectations: Map<string, ReportedExpectation>;
  standing: Standing;
}

/** Of one scenario: how many were laid out, and how many the book tells otherwise. */
export interface Totals {
  lines: number;
  wrongLines: number;
  expectations: number;
  wrongExpectations: number;
}

export interface Checked {
  findings: string[];
  tallies: Map<string, Totals>;
}

export function checkYear(year: Year, told: Told): Checked {
  const tallies = new Map<string, Totals>();
  const findings: string[] = [];
  const byNsu = new Map(told.lines.map((line) => [line.nsu, line]));
  for (const line of year.lines) {
    const totals = totalsOf(tallies, line.scenario);
    totals.lines += 1;
    const wrong = wrongOf(line, byNsu.get(line.nsu));
    if (wrong === null) continue;
    totals.wrongLines += 1;
    findings.push(`${line.scenario}: line ${line.nsu} (${line.shown}): ${wrong}`);
  }
  for (const expectation of year.book.expectations) {
    const totals = totalsOf(tallies, expectation.scenario);
    totals.expectations += 1;
    const wrong = wrongOfExpectation(expectation, told.expectations.get(expectation.id));
    if (wrong === null) continue;
    totals.wrongExpectations += 1;
    findings.push(`${expectation.scenario}: ${expectation.kind} ${expectation.id}: ${wrong}`);
  }
  return { findings: [...checkSums(year, told), ...findings], tallies };
}

function totalsOf(tallies: Map<string, Totals>, scenario: string): Totals {
  const known = tallies.get(scenario);
  if (known) return known;
  const fresh = { lines: 0, wrongLines: 0, expectations: 0, wrongExpectations: 0 };
  tallies.set(scenario, fresh);
  return fresh;
}

function wrongOf(line: Line, told: EventLine | undefined): string | null {
  if (!told) return 'is not mirrored';
  if (told.cents !== line.cents || told.isCredit !== line.isCredit)
    return `is ${line.cents} ${line.typeName}, mirrored as ${told.cents}`;
  const should = sayTruth(line);
  const is = sayReported(told);
  return should === is ? null : `should be ${should}, is ${is}`;
}

function sayTruth({ truth, expectation, cents }: Line): string {
  const { match, category, breakKind } = truth;
  return say({
    matches: match ? [`${match} of ${cents} to ${expectation?.id}`] : [],
    category,
    breaks: breakKind ? [breakKind] : [],
    isWaiting: false,
  });
}

function sayReported({ matches, category, breaks, isWaiting }: EventLine): string {
  const said = matches.map((match) => `${match.role} of ${match.cents} to ${match.expectation}`);
  return say({ matches: said, category, breaks, isWaiting });
}

interface Said {
  matches: string[];
  category: string | null;
  breaks: string[];
  isWaiting: boolean;
}

function say({ matches, category, breaks, isWaiting }: Said): string {
  const parts = [
    ...matches,
    ...(category ? [`classified ${category}`] : []),
    ...breaks.map((kind) => `in a break ${kind}`),
    ...(isWaiting ? ['waiting'] : []),
  ];
  return parts.join(' and ') || 'explained by nothing';
}

function wrongOfExpectation(truth: Expectation, told: ReportedExpectation | undefined): string | null {
  if (!told) return 'is not in the book';
  if (told.paidCents !== truth.paidCents)
    return `should be paid ${truth.paidCents}, is paid ${told.paidCents}`;
  const also = truth.mayBeMissing ? ['missing'] : [];
  const breaks = told.breaks.filter((kind) => !also.includes(kind));
  const [should, is] = [truth.breaks.join(', ') || 'none', breaks.join(', ') || 'none'];
  return should === is ? null : `its open breaks should be ${should}, are ${is}`;
}

function checkSums(year: Year, { standing }: Told): string[] {
  const sum = (isCredit: boolean) =>
    year.lines
      .filter((line) => line.isCredit === isCredit)
      .reduce((all, { cents }) => all + cents, 0);
  const is = (what: string, should: unknown, found: unknown) =>
    should === found
      ? []
      : [`the ledger: ${what} should be ${String(should)}, is ${String(found)}`];
  return [
    ...is('lines', year.lines.length, standing.lines),
    ...is('credits', sum(true), standing.creditCents),
    ...is('debits', sum(false), standing.debitCents),
    ...is('the balance', year.closingCents, standing.balanceCents),
    ...is('whether the chain is whole', true, standing.isWhole),
    ...is('lines that wait', 0, standing.waiting),
  ];
}
