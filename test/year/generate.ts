// Lays a year out: so many lines, each trouble at its rate, numbered, with an unbroken chain of balances. The same
// seed lays out the same year.
import { statementDayStart } from '../../src/brazil/statement-day.js';
import { addDays } from '../../src/brazil/calendar.js';
import { Book, type Line } from './book.js';
import { dayMs, ordinary, troubles } from './scenarios.js';

export interface YearPlan {
  lines: number;
  seed: number;
  days: number;
  /** The day after the last, yyyy-mm-dd. */
  until: string;
  /** Of each trouble, as a part of the lines. */
  rate: number;
}

export interface Year {
  plan: YearPlan;
  book: Book;
  /** In the order of their numbers. */
  lines: Line[];
  openingCents: number;
  closingCents: number;
  /** Lines before are opening lines. */
  goLiveAt: Date;
  /** The bank's time when the import begins: all deadlines of the year are over. */
  bankTime: Date;
}

const openingCents = 50_000_000_000;
const firstNsu = 1_000;
/** Room for the second and third line of what begins late in the year. */
const roomDays = 12;

/** How much rarer than the others. */
const rarity: Record<string, number> = {
  'answer lost': 0.1,
  'paid twice, given back by us': 0.25,
  'another amount debited': 0.25,
  'debited twice': 0.5,
};

export function generateYear(plan: YearPlan): Year {
  const book = new Book(plan.seed);
  const from = statementDayStart(addDays(plan.until, -plan.days)).getTime();
  const goLiveAt = from + dayMs;
  const spanMs = Math.max(1, plan.days - roomDays - 1) * dayMs;
  const instant = () => goLiveAt + Math.floor(book.dice.next() * spanMs);
  openingLines(book, from, Math.ceil(plan.lines * plan.rate * 0.5));
  for (const [name, scenario] of Object.entries(troubles)) {
    book.scenario = name;
    const times = Math.max(1, Math.round(plan.lines * plan.rate * (rarity[name] ?? 1)));
    for (let time = 0; time < times; time += 1) scenario(book, instant());
  }
  book.scenario = 'ordinary';
  while (book.lines.length < plan.lines) ordinary(book, instant());
  const lines = number(book, plan.rate);
  return {
    ...{ plan, book, lines, openingCents },
    closingCents: lines.at(-1)?.currentCents ?? openingCents,
    goLiveAt: new Date(goLiveAt),
    bankTime: new Date(statementDayStart(plan.until).getTime() + 10 * dayMs),
  };
}

/** What came before the service did, and names nothing of ours. */
function openingLines(book: Book, from: number, count: number): void {
  book.scenario = 'before the service';
  for (let made = 0; made < count; made += 1)
    book.line({
      ...{ at: from + book.dice.integer(0, dayMs - 1), cents: book.dice.integer(100, 90_000) },
      ...{ typeName: 'CREDIT_PIX', proof: { endToEndId: book.endToEndId() } },
      truth: { category: 'before_go_live' },
    });
}

/** Numbers the lines by time, some out of order, and decides when each shows. */
function number(book: Book, rate: number): Line[] {
  const { dice } = book;
  const lines = [...book.lines].sort((a, b) => a.at - b.at);
  for (let place = 0; place + 1 < lines.length; place += 1) {
    const [one, next] = [lines[place], lines[place + 1]];
    const isOwn = one?.expectation !== null && one?.expectation === next?.expectation;
    if (!one || !next || isOwn || !dice.chance(rate)) continue;
    [lines[place], lines[place + 1]] = [next, one];
    place += 1;
  }
  let balance = openingCents;
  for (const [place, line] of lines.entries()) {
    line.nsu = firstNsu + place;
    line.previousCents = balance;
    balance += line.isCredit ? line.cents : -line.cents;
    line.currentCents = balance;
    if (place > 0 && place < lines.length - 1 && dice.chance(rate)) line.shown = 'late';
  }
  for (const line of lines.slice(-Math.ceil(lines.length / 100))) line.shown = 'shifting';
  for (const expectation of book.expectations)
    if (expectation.reportedNsuOf)
      expectation.references = [
        ...expectation.references,
        { kind: 'nsu', value: String(expectation.reportedNsuOf.nsu) },
      ];
  return lines;
}
