// The short form of the year of a busy account. `npm run year` runs the long form.
import { expect, it } from '@jest/globals';
import { runYear, type YearOptions } from '../year/run.js';

const requested = process.env.YEAR;
const short = { lines: 400, seed: 1, days: 30, until: '2026-09-01', rate: 0.02, shuffle: true };
const options = requested ? (JSON.parse(requested) as YearOptions) : short;

it(
  'gives each statement line its correct outcome once, in whatever order the lines arrive',
  async () => {
    const progress = (message: string) => {
      if (requested) process.stdout.write(`• ${message}\n`);
    };
    const { report, findings } = await runYear(options, progress);
    if (requested || findings.length > 0) process.stdout.write(`${report}\n\n`);
    expect(findings.slice(0, 20)).toEqual([]);
  },
  3 * 3_600_000,
);
