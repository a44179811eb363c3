// The packed client and sandbox bank in the project of a stranger: strict TypeScript and Jest. The
// service is the one of the checkout: the tarball of `concilia` has a test of its own.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { until } from '../support/until.js';

const project = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'concilia-shop-'));
const dataDir = mkdtempSync(join(tmpdir(), 'concilia-shop-data-'));
const readJsonFile = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest;
const { version } = readJsonFile(join(project, 'package.json'));
const archiveOf = (name: string) => join(project, 'packages', `concilia-${name}-${version}.tgz`);

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** The snippet of the README, as a module. */
function readmeModule(): string {
  const readme = readFileSync(join(project, 'packages', 'client', 'README.md'), 'utf8');
  const [, snippet = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  return [
    `import { Concilia, fromCents, toCents } from '@concilia/client';`,
    `const { CONCILIA_URL: baseUrl = '' } = process.env;`,
    `const apiKey = 'concilia-dev-key';`,
    `let paid = 0n;`,
    snippet,
  ].join('\n');
}

/** Runs a program, with its output in the error when it fails. */
async function run(program: string, args: string[], cwd: string, url = ''): Promise<string> {
  const env = { ...process.env, CONCILIA_URL: url, NODE_OPTIONS: '' };
  try {
    return (await promisify(execFile)(program, args, { cwd, env })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
  }
}

describe('the packed client', () => {
  let concilia: ConciliaProcess;

  beforeAll(async () => {
    await run(process.execPath, ['scripts/packages.mjs'], project);
    cpSync(join(project, 'examples', 'shop'), folder, { recursive: true });
    const manifest = readJsonFile(join(folder, 'package.json'));
    manifest.dependencies['@concilia/client'] = `file:${archiveOf('client')}`;
    manifest.devDependencies['@concilia/sandbox-bank'] = `file:${archiveOf('sandbox-bank')}`;
    delete manifest.devDependencies.concilia;
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'src', 'readme.mts'), readmeModule());
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], folder);
    const program = join(folder, 'node_modules', '.bin', 'concilia');
    symlinkSync(join(project, 'dist', 'cli.js'), program);
    chmodSync(program, 0o755);
    concilia = await ConciliaProcess.with({ DATA_DIR: dataDir });
    await concilia.start();
  }, 400_000);

  afterAll(async () => {
    await concilia.stop();
    for (const one of [folder, dataDir]) rmSync(one, { recursive: true, force: true });
  });

  it('takes at most 60 kB, and depends on standardwebhooks alone', () => {
    expect(statSync(archiveOf('client')).size).toBeLessThanOrEqual(60_000);
    const installed = join(folder, 'node_modules', '@concilia', 'client', 'package.json');
    expect(Object.keys(readJsonFile(installed).dependencies)).toEqual(['standardwebhooks']);
  });

  it('compiles strictly, and a shop charges, refunds and pays its supplier with it', async () => {
    const shop = readFileSync(join(folder, 'src', 'shop.spec.ts'), 'utf8');
    expect(shop.trimEnd().split('\n').length).toBeLessThan(60);
    await run('npm', ['test'], folder);
  }, 300_000);

  it('is imported as the README says', async () => {
    await concilia.callService('POST', '/baas/v1/charges', {
      ...{ type: 'BANKSLIP', correlationId: 'order-1', dueDate: '2030-12-31', Amount: 292.51 },
      payer: { name: 'Maria da Silva', document: '12345678909' },
    });
    await concilia.callBank('POST', '/baas/v1/charges/order-1/pay');
    await until('the charge is paid', async () => {
      const { body } = await concilia.callService('GET', '/v1/charges/order-1');
      return body.settlement === 'settled';
    });
    const printed = await run('node', ['dist/readme.mjs'], folder, concilia.serviceUrl);
    expect(printed).toBe('received R$ 292.51\n');
  }, 60_000);
});
