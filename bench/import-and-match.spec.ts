// Measures how fast statement lines are imported from a bank over HTTP and matched, as a multiple
// of plain inserts of the same lines.
import { it } from '@jest/globals';
import { alignColumns } from '../test/support/table.js';
import { openYearDeployment } from '../test/year/deployment.js';
import { generateYear } from '../test/year/generate.js';
import { measurePlainInserts } from './plain-inserts.js';

const lines = Number(process.env.BENCH_LINES ?? 20_000);
/** The sync stores pages of 100 lines; the matcher decides batches of 1,000 lines. */
const [pageLines, batchLines] = [100, 1_000];

async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

it('measures the sync and the matching of statement lines', async () => {
  const plan = { lines, seed: 1, days: 365, until: '2026-09-01', rate: 0.02 };
  const deployment = await openYearDeployment(generateYear(plan), 'desc');
  try {
    // Expected payments are decided when they are recorded, before their lines come.
    await deployment.reconcile();
    deployment.bank.showAll();
    const sync = await measureSeconds(deployment.sync);
    const decide = await measureSeconds(deployment.reconcile);
    const insertPages = await measurePlainInserts(deployment.pool, pageLines);
    const insertBatches = await measurePlainInserts(deployment.pool, batchLines);
    const row = (step: string, seconds: number, insertSeconds: number) => [
      ...[step, Math.round(lines / seconds), (seconds / insertSeconds).toFixed(1)],
    ];
    const table = alignColumns([
      ['step', 'lines/s', 'times plain insert'],
      row(`plain insert, ${pageLines} lines each`, insertPages, insertPages),
      row(`sync, pages of ${pageLines} lines`, sync, insertPages),
      row(`plain insert, ${batchLines} lines each`, insertBatches, insertBatches),
      row(`decide, batches of ${batchLines} lines`, decide, insertBatches),
    ]);
    process.stdout.write(`\n${lines} statement lines\n${table.join('\n')}\n\n`);
  } finally {
    await deployment.close();
  }
});
