// One year from its first line to its verdict: laid out, imported, judged, closed, checked, and gone over again.
import type { ShownOrder } from './bank.js';
import { checkYear, type Checked } from './check.js';
import { generateYear, type Year, type YearPlan } from './generate.js';
import { openHouse, type House } from './deployment.js';
import * as book from './read-book.js';
import { tabulate, type Timing } from './report.js';
import { steps } from './steps.js';

export interface YearOptions extends YearPlan {
  /** Imports the same lines once more in a shuffled order, and compares both books. */
  shuffle: boolean;
  /** Keeps the database of the first. */
  isKept?: boolean;
}

export interface Outcome {
  table: string;
  findings: string[];
}

type Progress = (message: string) => void;

/** How long lines may wait, and holes be left, after all has shown. */
const patienceMs = 120_000;

export async function runYear(preferences: YearOptions, progress: Progress): Promise<Outcome> {
  const year = generateYear(preferences);
  progress(`${year.lines.length} lines and ${year.book.expectations.length} expectations laid out`);
  const first = await liveThrough(year, 'desc', progress, preferences.isKept);
  const findings = [...first.findings];
  if (preferences.shuffle) {
    const second = await liveThrough(year, 'shuffled', progress);
    const differing = book.differences(first.rows, second.rows);
    findings.push(...differing.map((row) => `another order makes another book: ${row}`));
  }
  const { checked, timings } = first;
  return { table: tabulate({ preferences, checked, timings, findings }), findings };
}

interface Lived {
  checked: Checked;
  findings: string[];
  timings: Timing[];
  /** The book at the end. */
  rows: string[];
}

async function liveThrough(
  year: Year,
  order: ShownOrder,
  progress: Progress,
  isKept = false,
): Promise<Lived> {
  const timings: Timing[] = [];
  const timed = async <Result>(what: string, lines: number, work: () => Promise<Result>) => {
    const startedAt = Date.now();
    const result = await work();
    timings.push({ what, lines, seconds: (Date.now() - startedAt) / 1_000 });
    progress(`${order}: ${what} (${((Date.now() - startedAt) / 1_000).toFixed(1)} s)`);
    return result;
  };
  const count = year.lines.length;
  const house = await timed('the ground is laid', count, () => openHouse(year, order, isKept));
  try {
    await timed('mirrored, what shows at once', count, house.sync);
    await timed('judged, what shows at once', count, house.reconcile);
    house.bank.showAll();
    await timed('mirrored and judged, what was late', count, () => finish(house, count));
    const found: string[] = [];
    for (const [name, step] of Object.entries(steps)) {
      const wrong = await timed(name, count, () => step(house, year));
      found.push(...wrong.map((one) => `${name}: ${one}`));
    }
    const { pool, accountId } = house;
    const checked = await timed('checked', count, async () =>
      checkYear(year, {
        lines: await book.readLines(pool, accountId),
        expectations: await book.readExpectations(pool, accountId),
        standing: await book.readStanding(pool, accountId),
      }),
    );
    const again = await timed('gone over again', count, () => goOverAgain(house));
    const rows = await book.bookOf(pool, accountId);
    return { checked, findings: [...checked.findings, ...found, ...again], timings, rows };
  } finally {
    await house.close();
  }
}

/** Polls and judges until the mirror is whole and nothing waits; the checker says what has not come to an end. */
async function finish(house: House, lines: number): Promise<void> {
  const giveUpAt = Date.now() + patienceMs + lines;
  while (Date.now() < giveUpAt) {
    await house.sync();
    await house.reconcile();
    const standing = await book.readStanding(house.pool, house.accountId);
    if (standing.isWhole && standing.waiting === 0 && standing.lines === lines) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function goOverAgain(house: House): Promise<string[]> {
  const { pool, accountId } = house;
  const before = await book.historyOf(pool, accountId);
  for (let time = 0; time < 2; time += 1) {
    await house.sync();
    await house.reconcile();
  }
  const changed = book.differences(before, await book.historyOf(pool, accountId));
  return changed.map((row) => `going over it again changes something: ${row}`);
}
