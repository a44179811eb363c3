// How fast the book is kept: lines mirrored from a bank over HTTP, and judged, against plainly inserting them.
import { it } from '@jest/globals';
import { generateYear } from '../test/year/generate.js';
import { openHouse } from '../test/year/deployment.js';
import { plainInsertSeconds } from './yardstick.js';

const lines = Number(process.env.BENCH_LINES ?? 20_000);
/** As the mirror writes a page, and as the judge takes a batch. */
const [pageLines, batchLines] = [100, 1_000];

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

it('keeps the book', async () => {
  const plan = { lines, seed: 1, days: 365, until: '2026-09-01', rate: 0.02 };
  const house = await openHouse(generateYear(plan), 'desc');
  try {
    house.bank.showAll();
    const mirror = await secondsOf(house.sync);
    const decide = await secondsOf(house.reconcile);
    const byPage = await plainInsertSeconds(house.pool, pageLines);
    const byBatch = await plainInsertSeconds(house.pool, batchLines);
    const row = (what: string, seconds: number, yardstick: number) =>
      `${what.padEnd(28)}${Math.round(lines / seconds)
        .toString()
        .padStart(9)}${(seconds / yardstick).toFixed(1).padStart(12)}`;
    const table = [
      `${''.padEnd(28)}${'lines/s'.padStart(9)}${'yardsticks'.padStart(12)}`,
      row(`plain insert by ${pageLines}`, byPage, byPage),
      row('mirror, by pages', mirror, byPage),
      row(`plain insert by ${batchLines}`, byBatch, byBatch),
      row('judge, by batches', decide, byBatch),
    ];
    process.stdout.write(`\n${lines} lines\n${table.join('\n')}\n\n`);
  } finally {
    await house.close();
  }
});
