// The npm commands as a developer uses them: `.env`, `npm run dev`, and `npm test` with a pattern.
import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/concilia-process.js';
import { until } from '../support/until.js';

const project = join(import.meta.dirname, '..', '..');

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
    ['npm start', 'scripts/start.mjs', []],
    ['the built service', 'dist/main.js', []],
    ['its bundle', 'dist/bundle/main.cjs', []],
    ['npm run migrate', 'scripts/migrate.mjs', []],
    ['npm run verify', 'scripts/verify.mjs', []],
    ['npm run erase', 'scripts/erase.mjs', ['--account', 'main', '--nsu', '1', '--reason', 'x']],
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
    ['npm run restored', 'scripts/restored.mjs', ['--release', '--actor', 'Ana']],
    ['npm run reencrypt', 'scripts/reencrypt.mjs', []],
    ['npm run migrate', 'scripts/migrate.mjs', []],
    ['npm run verify', 'scripts/verify.mjs', []],
    ['npm run erase', 'scripts/erase.mjs', ['--account', 'main', '--nsu', '1', '--reason', 'x']],
  ])(
    'ends %s with one line',
    async (_, script, argv) => {
      const url = `postgresql://127.0.0.1:${await freePort()}/concilia`;
      const command = new Command(join(project, script), argv, tmpdir(), { DATABASE_URL: url });
      expect(await command.exitCode).toBe(1);
      expect(command.printed).toMatch(
        /^(✗ )?The database cannot be reached or cannot write: .*\n$/,
      );
    },
    60_000,
  );
});

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
const { started } = await built('main.js');
await started;
const { createLog } = await built('platform/log.js');
createLog('info', 'dev').warn('first version');
`;

describe('npm run dev', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-dev-'));
  const source = join(folder, 'src', 'main.ts');
  let command: Command;
  let serviceUrl = '';

  /**
   * A checkout of its own, with its settings only in `.env`. The build, the packages and the
   * generated clients are those of this checkout: `npm test` has compiled the same sources with the
   * same tsconfig.build.json.
   */
  beforeAll(async () => {
    const configs = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
    const prismaConfigs = ['prisma.service.config.ts', 'prisma.sandbox.config.ts'];
    const folders = ['prisma', 'scripts', '.prepared/generated'];
    for (const path of [...folders, ...configs, ...prismaConfigs])
      cpSync(join(project, path), join(folder, path), { recursive: true });
    for (const path of ['node_modules', 'dist'])
      symlinkSync(join(project, path), join(folder, path));
    // `npm run dev` checks that the generated clients exist. The built service has its own.
    for (const name of ['service', 'sandbox']) {
      const client = join(folder, 'src/generated', name, 'client.ts');
      mkdirSync(dirname(client), { recursive: true });
      writeFileSync(client, 'export {};\n');
    }
    const [port, sandboxPort] = [await freePort(), await freePort()];
    serviceUrl = `http://127.0.0.1:${port}`;
    writeFileSync(
      join(folder, '.env'),
      `PORT=${port}\nSANDBOX_PORT=${sandboxPort}\nDATA_DIR=data\nCONCILIA_API_KEY=a-key-of-dot-env\n`,
    );
    writeFileSync(source, devSource);
    command = new Command(join(folder, 'scripts/dev.mjs'), [], folder);
    await command.prints('WARN  first version', 120_000);
  }, 150_000);

  afterAll(async () => {
    await command.interrupt();
    rmSync(folder, { recursive: true, force: true });
  });

  const isServed = async () => (await fetch(`${serviceUrl}/health/ready`)).ok;

  it('compiles src beside dist, reads .env and prints readable logs', async () => {
    // The service finds prisma relative to its own files, so .dev must be as deep as dist.
    expect(existsSync(join(folder, '.dev', 'main.js'))).toBe(true);
    expect(await isServed()).toBe(true);
    const headers = { 'x-service-api-key': 'a-key-of-dot-env' };
    expect((await fetch(`${serviceUrl}/v1/summary`, { headers })).status).toBe(200);
    expect(command.printed).toMatch(/^\d{2}:\d{2}:\d{2}\.\d{3} WARN {2}first version$/m);
    expect(command.printed).not.toMatch(/^\{/m);
  });

  it('reports a compile error, leaves the service running, and restarts it after a change', async () => {
    writeFileSync(source, `${devSource}export const broken: string = 1;\n`);
    await command.prints('Errors: 1. Waiting for a change');
    expect(command.printed).toContain('src/main.ts');
    expect(await isServed()).toBe(true);

    writeFileSync(source, devSource.replace('first version', 'second version'));
    await command.prints('Restarting the service');
    await command.prints('WARN  second version');
    expect(await isServed()).toBe(true);
  }, 120_000);

  it('stops the service and its PostgreSQL at Ctrl-C', async () => {
    expect(await command.interrupt()).toBe(0);
    expect(command.printed).toMatch(/PostgreSQL has stopped\n.*Stopped\n$/);
    await expect(fetch(serviceUrl)).rejects.toThrow();
    expect(existsSync(join(folder, 'data', 'postgres', 'server', 'postmaster.pid'))).toBe(false);
  }, 60_000);
});

describe('npm test -- PATTERN …', () => {
  it('runs the matching files and passes the options of Jest on', async () => {
    const argv = ['test/advisory', 'test/readable-logs', '-t', 'terminal'];
    const command = new Command(join(project, 'scripts/test.mjs'), argv, project, {
      TEST_DATABASE_URL: process.env.TEST_DATABASE_URL,
    });
    expect(await command.exitCode).toBe(0);
    expect(command.printed).toContain('test/readable-logs.spec.ts');
    expect(command.printed).toMatch(/\n1 passed, 0 failed, \d+ skipped\n$/);
    expect(command.printed).not.toMatch(/settings\.spec|contract-through-service/);
  }, 120_000);
});
