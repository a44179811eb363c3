// Generates a year: the requested number of lines, each error scenario at its rate, numbered, with
// an unbroken balance chain. The same seed generates the same year.
import { addDays } from '../../src/brazil/calendar.js';
import { statementDayStart } from '../../src/brazil/statement-day.js';
import { addOrdinaryBusiness, dayMs, errorScenarios } from './scenarios.js';
import { YearBuilder, type YearLine } from './year-builder.js';

export interface YearPlan {
  lines: number;
  seed: number;
  days: number;
  /** The day after the last generated day, yyyy-mm-dd. */
  until: string;
  /** How many lines each error scenario has, as a fraction of all lines. */
  rate: number;
}

export interface Year {
  plan: YearPlan;
  builder: YearBuilder;
  /** In the order of their numbers. */
  lines: YearLine[];
  openingCents: number;
  closingCents: number;
  /** Earlier lines are classified `before_go_live`. */
  goLiveAt: Date;
  /** The bank's time when the import begins. All deadlines of the year have passed. */
  bankTime: Date;
}

const openingCents = 50_000_000_000;
const firstNsu = 1_000;
/** No scenario begins in the last days, so that its later lines are still within the year. */
const lastDaysWithoutStart = 12;

/** The rate of some scenarios, relative to the others. */
const relativeRates: Record<string, number> = {
  'response lost': 0.1,
  'paid twice, refunded by us': 0.25,
  'another amount debited': 0.25,
  'debited twice': 0.5,
};

export function generateYear(plan: YearPlan): Year {
  const builder = new YearBuilder(plan.seed);
  const from = statementDayStart(addDays(plan.until, -plan.days)).getTime();
  const goLiveAt = from + dayMs;
  const spanMs = Math.max(1, plan.days - lastDaysWithoutStart - 1) * dayMs;
  const randomTime = () => goLiveAt + Math.floor(builder.dice.next() * spanMs);
  addLinesBeforeGoLive(builder, from, Math.ceil(plan.lines * plan.rate * 0.5));
  for (const [name, scenario] of Object.entries(errorScenarios)) {
    builder.scenario = name;
    const times = Math.max(1, Math.round(plan.lines * plan.rate * (relativeRates[name] ?? 1)));
    for (let time = 0; time < times; time += 1) scenario(builder, randomTime());
  }
  builder.scenario = 'ordinary';
  while (builder.lines.length < plan.lines) addOrdinaryBusiness(builder, randomTime());
  const lines = numberLines(builder, plan.rate);
  return {
    ...{ plan, builder, lines, openingCents },
    closingCents: lines.at(-1)?.currentCents ?? openingCents,
    goLiveAt: new Date(goLiveAt),
    bankTime: new Date(statementDayStart(plan.until).getTime() + 10 * dayMs),
  };
}

/** Lines from before the service was used. They reference no expected payment. */
function addLinesBeforeGoLive(builder: YearBuilder, from: number, count: number): void {
  builder.scenario = 'before go-live';
  for (let added = 0; added < count; added += 1)
    builder.addLine({
      at: from + builder.dice.integer(0, dayMs - 1),
      cents: builder.dice.integer(100, 90_000),
      ...{ typeName: 'CREDIT_PIX', proof: { endToEndId: builder.endToEndId() } },
      correct: { category: 'before_go_live' },
    });
}

/** Numbers the lines by time, some of them out of order, and decides when each appears. */
function numberLines(builder: YearBuilder, rate: number): YearLine[] {
  const { dice } = builder;
  const lines = [...builder.lines].sort((a, b) => a.at - b.at);
  for (let index = 0; index + 1 < lines.length; index += 1) {
    const [line, next] = [lines[index], lines[index + 1]];
    const haveSamePayment = line?.payment !== null && line?.payment === next?.payment;
    if (!line || !next || haveSamePayment || !dice.chance(rate)) continue;
    [lines[index], lines[index + 1]] = [next, line];
    index += 1;
  }
  let balance = openingCents;
  for (const [index, line] of lines.entries()) {
    line.nsu = firstNsu + index;
    line.previousCents = balance;
    balance += line.isCredit ? line.cents : -line.cents;
    line.currentCents = balance;
    if (index > 0 && index < lines.length - 1 && dice.chance(rate)) line.appears = 'late';
  }
  for (const line of lines.slice(-Math.ceil(lines.length / 100))) line.appears = 'shifting';
  for (const payment of builder.payments)
    if (payment.reportedNsuOf)
      payment.references = [
        ...payment.references,
        { kind: 'nsu', value: String(payment.reportedNsuOf.nsu) },
      ];
  return lines;
}
