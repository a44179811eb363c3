// Keeps the benches alive: each runs one short round, and its check finds every row. No figure is
// compared, because the machine is shared.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { until } from '../support/until.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

function spawnBench(program: string, options: string[], environment: NodeJS.ProcessEnv = {}) {
  const node = [
    ...['--no-warnings', '--expose-gc', `--import=${join(project, 'bench', 'typescript.mjs')}`],
    join(project, 'bench', program),
  ];
  // The benches start a PostgreSQL of their own, as `npm run bench` does.
  const env = { ...process.env, TEST_DATABASE_URL: '', ...environment };
  return spawn(process.execPath, [...node, ...options], { cwd: tmpdir(), env });
}

function run(program: string, ...options: string[]) {
  const child = spawnBench(program, options);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output })),
  );
}

it('runs every bench for a short time, and none loses or doubles a row', async () => {
  const ids = readdirSync(join(project, 'bench', 'goals')).map((name) =>
    name.replace(/-.*$/, '').toUpperCase(),
  );
  const { code, output } = await run('run.ts', '--short');
  const measured = [...output.matchAll(/^([GBC]\d+\w*): /gm)].map(([, id]) => id?.toUpperCase());
  expect({ code, failed: output.match(/^✗ .*/gm) }).toEqual({ code: 0, failed: null });
  expect(measured.sort()).toEqual(ids.sort());
}, 600_000);

it('finds the size of each table, and no statement that joins accounts', async () => {
  const { code, output } = await run('disk.ts', '--lines', '20');
  const across = [...output.matchAll(/^across: .*/gm)].map(([line]) => line);
  expect({ code, across }).toEqual({ code: 0, across: [] });
  expect(output).toMatch(/^statement_line +1000000 /m);
  expect(output).toMatch(/^each: /m);
}, 300_000);

it('leaves no PostgreSQL behind when it is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-killed-'));
  const child = spawnBench('run.ts', ['--short', 'G6'], { TMPDIR: folder });
  const started = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  await started;
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^concilia-bench-/)]);
  child.kill('SIGKILL');
  await until('the data is deleted', () => readdirSync(folder).length === 0, 60_000);
  rmSync(folder, { recursive: true });
}, 120_000);
