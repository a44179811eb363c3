// The year of a busy account, in its short form; `npm run year` runs it whole.
import { expect, it } from '@jest/globals';
import { runYear, type YearOptions } from '../year/run.js';

const asked = process.env.YEAR;
const short = { lines: 400, seed: 1, days: 30, until: '2026-09-01', rate: 0.02, shuffle: true };
const preferences = asked ? (JSON.parse(asked) as YearOptions) : short;

it(
  'explains every line of a busy account rightly and once, in whatever order the lines come',
  async () => {
    const progress = (message: string) => {
      if (asked) process.stdout.write(`• ${message}\n`);
    };
    const { table, findings } = await runYear(preferences, progress);
    if (asked || findings.length > 0) process.stdout.write(`${table}\n\n`);
    expect(findings.slice(0, 20)).toEqual([]);
  },
  3 * 3_600_000,
);
