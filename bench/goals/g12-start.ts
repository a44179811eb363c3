// G12: how long `npm start` takes on existing data until the process is ready, beside an empty Nest
// application that listens.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { until } from '../../test/support/until.js';
import type { Bench, Contest, Size } from '../harness/bench.js';

const emptyNest = fileURLToPath(new URL('../yardsticks/empty-nest.mjs', import.meta.url));

async function openContest({ isShort }: Size): Promise<Contest> {
  const folder = await mkdtemp(join(tmpdir(), 'concilia-start-'));
  const concilia = await ConciliaProcess.with({ DATA_DIR: folder }, 'scripts/start.mjs');
  const lines = isShort ? 100 : 2_000;
  await concilia.start(120_000);
  await concilia.callBank('POST', '/sandbox/generate', { count: lines, seed: 12, days: 2 });
  await until('the lines are synced', async () => {
    const { body } = await concilia.callService<Summary>('GET', '/v1/summary');
    return body.transactions.total >= lines;
  });
  await concilia.stop();
  const linesAtStarts: number[] = [];
  return {
    contestants: {
      'npm start': async () => {
        const startedAt = performance.now();
        await concilia.start(120_000);
        const elapsedMs = performance.now() - startedAt;
        const { body } = await concilia.callService<Summary>('GET', '/v1/summary');
        linesAtStarts.push(body.transactions.total);
        await concilia.stop();
        return elapsedMs;
      },
      'empty Nest': startEmptyNest,
    },
    check: async () => {
      const least = Math.min(...linesAtStarts);
      if (least < lines) throw new Error(`a start found ${least} of ${lines} lines`);
    },
    close: async () => {
      await concilia.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Summary {
  transactions: { total: number };
}

async function startEmptyNest(): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [emptyNest], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const elapsedMs = performance.now() - startedAt;
  child.kill();
  await once(child, 'exit');
  return elapsedMs;
}

export const bench: Bench = {
  id: 'G12',
  title: '`npm start` on existing data until ready',
  unit: 'ms',
  goals: [{ of: 'npm start', atMost: 2_000 }],
  open: openContest,
};
