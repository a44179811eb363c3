// The npm commands as a developer uses them: `.env`, `npm run dev`, and `npm test` with a pattern.
import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/concilia-process.js';
import { until } from '../support/until.js';

const project = join(import.meta.dirname, '..', '..');
const erasure = ['--account', 'main', '--nsu', '1', '--reason', 'x'];

/** A running script of the checkout, and everything that it has printed. */
class Command {
  printed = '';
  readonly exitCode: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(script: string, argv: string[], cwd: string, environment: NodeJS.ProcessEnv = {}) {
    const { PATH, HOME = '/tmp', TMPDIR = tmpdir() } = process.env;
    const env = { PATH, HOME, TMPDIR, ...environment };
    this.child = spawn(process.execPath, [script, ...argv], { cwd, env });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.printed += chunk.toString()));
    this.exitCode = new Promise((resolve) => this.child.once('close', resolve));
  }

  async prints(text: string, timeoutMs = 60_000): Promise<void> {
    const isEnded = () => this.child.exitCode !== null || this.child.signalCode !== null;
    await until(
      `"${text}" is printed`,
      () => {
        if (this.printed.includes(text)) return true;
        if (isEnded()) throw new Error(`the command ended:\n${this.printed}`);
        return false;
      },
      timeoutMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.printed}`);
    });
  }

  interrupt(): Promise<number | null> {
    this.child.kill('SIGINT');
    return this.exitCode;
  }
}

describe('a malformed .env in the working directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-malformed-'));
  beforeAll(() => writeFileSync(join(folder, '.env'), 'PORT=4000\nDATABASE_URL: secret\n'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['npm start', 'scripts/start.mjs', ['start']],
    ['the built service', 'dist/cli.js', ['start']],
    ['npm run migrate', 'scripts/start.mjs', ['migrate']],
    ['npm run verify', 'scripts/start.mjs', ['verify']],
    ['npm run erase', 'scripts/start.mjs', ['erase', ...erasure]],
  ])(
    'stops %s with a plain error',
    async (_, script, argv) => {
      const command = new Command(join(project, script), argv, folder);
      expect(await command.exitCode).toBe(1);
      expect(command.printed).toContain(`${join(folder, '.env')}, line 2: must be NAME=value`);
      expect(command.printed).not.toMatch(/secret|\n\s+at /);
    },
    60_000,
  );
});

describe('a database that is away', () => {
  it.each([
    ['restored', ['--release', '--actor', 'Ana']],
    ['reencrypt', []],
    ['migrate', []],
    ['verify', []],
    ['erase', erasure],
  ])(
    'ends npm run %s with one line',
    async (program, options) => {
      const url = `postgresql://127.0.0.1:${await freePort()}/concilia`;
      const argv = [program, ...options];
      const start = join(project, 'scripts/start.mjs');
      const command = new Command(start, argv, tmpdir(), { DATABASE_URL: url });
      expect(await command.exitCode).toBe(1);
      expect(command.printed).toMatch(/^The database cannot be reached or cannot write: .*\n$/);
    },
    60_000,
  );
});

it('names the lines of the sources in the stack of an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-stack-'));
  writeFileSync(join(folder, 'file'), '');
  const command = new Command(join(project, 'scripts/start.mjs'), ['start'], folder, {
    DATA_DIR: join(folder, 'file', 'data'),
  });
  expect(await command.exitCode).toBe(1);
  const source = readFileSync(join(project, 'src/app/open-databases.ts'), 'utf8').split('\n');
  const [, line] = /at async openDatabases \(\S*src\/app\/open-databases\.ts:(\d+):\d+\)/.exec(
    command.printed,
  ) ?? [command.printed];
  expect(source[Number(line) - 1]).toContain('startEmbeddedPostgres(');
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

it('installs nothing into the packages of another checkout', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-linked-'));
  for (const path of ['scripts', 'prisma', 'package.json', 'package-lock.json'])
    cpSync(join(project, path), join(folder, path), { recursive: true });
  const packages = join(folder, 'of-another-checkout');
  mkdirSync(join(packages, 'a-package'), { recursive: true });
  symlinkSync(packages, join(folder, 'node_modules'));
  const command = new Command(join(folder, 'scripts/prepare.mjs'), ['--no-build'], folder);
  expect(await command.exitCode).toBe(1);
  expect(command.printed).toContain('✗ node_modules is a symbolic link');
  expect(readdirSync(packages)).toEqual(['a-package']);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Starts the built service, so that `npm run dev` has only this file to compile. */
const devSource = `
const built = (path: string) => import(new URL('../dist/' + path, import.meta.url).href);
const { finished } = await built('cli.js');
await finished;
const { createLog } = await built('platform/log.js');
createLog('info', 'dev').warn('first version');
`;

describe('npm run dev', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-dev-'));
  const source = join(folder, 'src', 'cli.ts');
  let command: Command;
  let serviceUrl = '';

  /**
   * A checkout of its own, with its settings only in `.env`. Build and packages are those of
   * this checkout. What prepares it is what `npm start` runs.
   */
  beforeAll(async () => {
    const configs = ['nest-cli.json', '.swcrc', 'package.json'];
    for (const name of ['', '.build', '.dev']) configs.push(`tsconfig${name}.json`);
    for (const path of ['prisma', ...configs])
      cpSync(join(project, path), join(folder, path), { recursive: true });
    for (const path of ['node_modules', 'dist'])
      symlinkSync(join(project, path), join(folder, path));
    const [port, sandboxPort] = [await freePort(), await freePort()];
    serviceUrl = `http://127.0.0.1:${port}`;
    writeFileSync(
      join(folder, '.env'),
      `PORT=${port}\nSANDBOX_PORT=${sandboxPort}\nDATA_DIR=data\nCONCILIA_API_KEY=a-key-of-dot-env\n`,
    );
    mkdirSync(join(folder, 'src'));
    writeFileSync(source, devSource);
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: { dev: string };
    };
    const [, argv = ''] = scripts.dev.split(' && nest ');
    const nest = join(folder, 'node_modules/@nestjs/cli/bin/nest.js');
    command = new Command(nest, argv.split(' '), folder);
    await command.prints('first version', 120_000);
  }, 150_000);

  afterAll(async () => {
    await command.interrupt();
    rmSync(folder, { recursive: true, force: true });
  });

  const isServed = async () => (await fetch(`${serviceUrl}/health/ready`)).ok;

  it('compiles src beside dist, and reads .env', async () => {
    // The service finds prisma relative to its own files, so .dev must be as deep as dist.
    expect(existsSync(join(folder, '.dev', 'cli.js'))).toBe(true);
    expect(await isServed()).toBe(true);
    const headers = { 'x-service-api-key': 'a-key-of-dot-env' };
    expect((await fetch(`${serviceUrl}/v1/summary`, { headers })).status).toBe(200);
  });

  it('restarts the service after a change, and reports an error of types', async () => {
    const wrong = 'export const broken: string = 1;\n';
    writeFileSync(source, devSource.replace('first version', 'second version') + wrong);
    await command.prints('second version', 120_000);
    expect(await isServed()).toBe(true);
    await command.prints('TS2322', 120_000);
  }, 250_000);

  it('stops the service and its PostgreSQL at Ctrl-C', async () => {
    expect(await command.interrupt()).toBe(0);
    expect(command.printed).toMatch(/PostgreSQL has stopped\n.*Stopped\n$/);
    await expect(fetch(serviceUrl)).rejects.toThrow();
    expect(existsSync(join(folder, 'data', 'postgres', 'server', 'postmaster.pid'))).toBe(false);
  }, 60_000);
});

describe('npm test -- PATTERN …', () => {
  it('runs the matching files and passes the options of Jest on', async () => {
    const argv = ['test/advisory', 'test/environment', '-t', 'copy'];
    const command = new Command(join(project, 'scripts/test.mjs'), argv, project, {
      TEST_DATABASE_URL: process.env.TEST_DATABASE_URL,
    });
    expect(await command.exitCode).toBe(0);
    expect(command.printed).toContain('test/environment-file.spec.ts');
    expect(command.printed).toMatch(/\n1 passed, 0 failed, \d+ skipped\n$/);
    expect(command.printed).not.toMatch(/settings\.spec|contract-through-service/);
  }, 120_000);
});
