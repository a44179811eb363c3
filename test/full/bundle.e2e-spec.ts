// How `npm start` runs the bundle: with the compiled code of an earlier run of the same bundle
// only, and with the places of the sources in stacks.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { accountAtItau } from '../support/exported-lines.js';
import { ConciliaProcess } from '../support/concilia-process.js';

const project = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'concilia-bundle-'));
const [bundle, compiled] = [join(folder, 'main.cjs'), join(folder, 'compiled')];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(argv: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, argv, { cwd: folder, env: { ...process.env, ...env } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  return new Promise((resolve) => child.once('close', () => resolve(printed)));
}

/** What the bundle prints. The last word is how V8 took the compiled code. */
function runBundle(): Promise<string> {
  const loader = JSON.stringify(join(project, 'scripts', 'run-bundle.mjs'));
  return run([
    '--input-type=module',
    '--eval',
    `import vm from 'node:vm';
     import { syncBuiltinESMExports } from 'node:module';
     const { Script } = vm;
     vm.Script = class extends Script {
       constructor(source, options) {
         super(source, options);
         const isUsed = options.cachedData && !this.cachedDataRejected;
         process.once('exit', () => console.log(isUsed ? 'used' : 'compiled'));
       }
     };
     syncBuiltinESMExports();
     const { runBundle } = await import(${loader});
     runBundle(${JSON.stringify(bundle)}, ${JSON.stringify(compiled)});`,
  ]);
}

const sourceOf = (word: string) =>
  `exports.started = Promise.resolve(); (() => console.log('${word}'))();`;

it('uses the compiled code of the same bundle, and of no other', async () => {
  writeFileSync(bundle, sourceOf('first'));
  expect(await runBundle()).toBe('first\ncompiled\n');
  expect(await runBundle()).toBe('first\nused\n');
  // V8 itself would run the first bundle for another one of the same length.
  writeFileSync(bundle, sourceOf('other'));
  expect(await runBundle()).toBe('other\ncompiled\n');
  expect(await runBundle()).toBe('other\nused\n');
  expect(readdirSync(compiled)).toHaveLength(1);
});

it('compiles again where the compiled code is damaged', async () => {
  writeFileSync(bundle, sourceOf('third'));
  await runBundle();
  const path = join(compiled, readdirSync(compiled)[0] ?? '');
  const bytes = readFileSync(path);
  bytes.fill(0, bytes.length - 100);
  writeFileSync(path, bytes);
  expect(await runBundle()).toBe('third\ncompiled\n');
  expect(await runBundle()).toBe('third\nused\n');
});

it('names the lines of the sources in the stack of an error', async () => {
  writeFileSync(join(folder, 'file'), '');
  const printed = await run([join(project, 'scripts', 'start.mjs')], {
    DATA_DIR: join(folder, 'file', 'data'),
  });
  const source = readFileSync(join(project, 'src', 'app', 'open-databases.ts'), 'utf8').split('\n');
  const [, line] = /at async openDatabases \(\S*src\/app\/open-databases\.ts:(\d+):\d+\)/.exec(
    printed,
  ) ?? [printed];
  expect(source[Number(line) - 1]).toContain('startEmbeddedPostgres(');
}, 60_000);

it('is ASCII, and writes accents that an OFX file has', async () => {
  const built = readFileSync(join(project, 'dist', 'bundle', 'main.cjs'));
  expect(built.findIndex((byte) => byte > 0x7f)).toBe(-1);
  const service = await ConciliaProcess.with(
    { DATA_DIR: join(folder, 'accents') },
    'scripts/start.mjs',
  );
  await service.start();
  const headers = {
    'x-service-api-key': 'concilia-dev-admin',
    'content-type': 'application/json',
  };
  const set = await fetch(`${service.serviceUrl}/v1/accounts/main`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({
      bankDetails: { ...accountAtItau, bankName: 'Banco Câmbio – São João' },
    }),
  });
  expect(set.status).toBe(200);
  const file = await fetch(`${service.serviceUrl}/v1/exports/transactions?format=ofx`, {
    headers: { 'x-service-api-key': 'concilia-dev-key' },
  });
  const text = Buffer.from(await file.arrayBuffer()).toString('latin1');
  expect(text).toContain('<ORG>Banco Câmbio - São João\r\n');
  await service.stop();
}, 120_000);
