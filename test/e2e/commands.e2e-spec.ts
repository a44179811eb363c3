// The npm commands as a developer uses them: `.env`, `npm run dev`, and `npm test` with a pattern.
import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
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

/** A Node program of the checkout, and what it has printed. */
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

describe('npm run dev', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-dev-'));
  const source = join(folder, 'src', 'main.ts');
  let original = '';
  let command: Command;
  let serviceUrl = '';

  /** A copy of the checkout whose settings are in `.env` alone. */
  beforeAll(async () => {
    const inputs = ['src', 'prisma', 'scripts', '.prepared/generated', 'package.json'];
    const configs = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
    const prismaConfigs = ['prisma.service.config.ts', 'prisma.sandbox.config.ts'];
    for (const path of [...inputs, ...configs, ...prismaConfigs])
      cpSync(join(project, path), join(folder, path), { recursive: true });
    symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
    const [port, sandboxPort] = [await freePort(), await freePort()];
    serviceUrl = `http://127.0.0.1:${port}`;
    writeFileSync(
      join(folder, '.env'),
      `PORT=${port}\nSANDBOX_PORT=${sandboxPort}\nDATA_DIR=data\nCONCILIA_API_KEY=a-key-of-dot-env\n`,
    );
    // Writes a log record at each start: the service itself may have nothing to log.
    original = `${readFileSync(source, 'utf8')}\ncreateLog('info', 'dev').warn('record');\n`;
    writeFileSync(source, original);
    command = new Command(join(folder, 'scripts/dev.mjs'), [], folder);
    await command.prints('WARN  record', 120_000);
  }, 150_000);

  afterAll(async () => {
    await command.interrupt();
    rmSync(folder, { recursive: true, force: true });
  });

  const isServed = async () => (await fetch(`${serviceUrl}/health/ready`)).ok;

  it('reads .env and prints readable logs', async () => {
    expect(await isServed()).toBe(true);
    const headers = { 'x-service-api-key': 'a-key-of-dot-env' };
    expect((await fetch(`${serviceUrl}/v1/summary`, { headers })).status).toBe(200);
    expect(command.printed).toMatch(/^\d{2}:\d{2}:\d{2}\.\d{3} WARN {2}record$/m);
    expect(command.printed).not.toMatch(/^\{/m);
  });

  it('reports a compile error, leaves the service running, and restarts it after a change', async () => {
    writeFileSync(source, `${original}export const broken: string = 1;\n`);
    await command.prints('Errors: 1. Waiting for a change');
    expect(command.printed).toContain('src/main.ts');
    expect(await isServed()).toBe(true);

    writeFileSync(source, original.replace('Concilia is running.', 'Concilia was changed.'));
    await command.prints('Restarting the service');
    await command.prints('Concilia was changed.');
    await until('the service is ready', isServed);
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
    await command.exitCode;
    expect(command.printed).toContain('test/readable-logs.spec.ts');
    expect(command.printed).toMatch(/\n1 passed, \d failed, \d+ skipped\n$/);
    expect(command.printed).not.toMatch(/settings\.spec|contract-through-service/);
  }, 120_000);
});
