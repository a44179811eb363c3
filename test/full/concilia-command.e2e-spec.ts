// `concilia` as an operator uses it: from a packed tarball, and beside a running service.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess, freePort } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';

const project = join(import.meta.dirname, '..', '..');
const built = join(project, 'dist', 'cli.js');
const folder = mkdtempSync(join(tmpdir(), 'concilia-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  code: number;
  out: string;
  errors: string;
}

function run(program: string, argv: string[], settings: Record<string, string> = {}) {
  const { PATH = '', HOME = '/tmp' } = process.env;
  const options = { cwd: folder, env: { PATH, HOME, ...settings }, maxBuffer: 64 * 1_048_576 };
  return new Promise<Ended>((resolve) => {
    execFile(program, argv, options, (error, out, errors) =>
      resolve({ code: error ? Number(error.code) : 0, out, errors }),
    );
  });
}

describe('the packed tarball', () => {
  const installed = join(folder, 'node_modules', 'concilia');

  /** As npm installs it, but with the packages of the checkout, so that no registry is needed. */
  beforeAll(async () => {
    const packed = await run('npm', [
      ...['pack', project, '--ignore-scripts', '--json', '--loglevel=error'],
    ]);
    const [{ filename = '' } = {}] = JSON.parse(packed.out) as { filename?: string }[];
    mkdirSync(installed, { recursive: true });
    const tar = ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed];
    expect(await run('tar', tar)).toMatchObject({ code: 0 });
    for (const name of readdirSync(join(project, 'node_modules')))
      if (!existsSync(join(dirname(installed), name)) && name !== '.bin')
        symlinkSync(join(project, 'node_modules', name), join(dirname(installed), name));
    mkdirSync(join(dirname(installed), '.bin'));
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      bin: { concilia: string };
    };
    symlinkSync(join(installed, bin.concilia), join(dirname(installed), '.bin', 'concilia'));
    await run('chmod', ['+x', join(installed, bin.concilia)]); // as npm does
  }, 120_000);

  it('has the program and the migrations, and no source or test', () => {
    expect(readdirSync(installed).sort()).toEqual([
      ...['LICENSE', 'README.md', 'dist', 'package.json', 'prisma'],
    ]);
  });

  it('is run by npx', async () => {
    const { code, out } = await run('npx', ['--no-install', 'concilia', '--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('concilia [options] [command]')]);
  }, 60_000);

  it('migrates a database', async () => {
    const database = await testDatabase();
    const settings = { DATABASE_URL: database.url };
    const cli = join(installed, 'dist', 'cli.js');
    const { code, out } = await run(process.execPath, [cli, 'migrate', '--json'], settings);
    const { applied } = JSON.parse(out) as { applied: string[] };
    expect([code, applied.length > 0]).toEqual([0, true]);
    await database.drop();
  }, 120_000);
});

const concilia = (argv: string[], settings?: Record<string, string>) =>
  run(process.execPath, [built, ...argv], settings);

it('answers --help with less than half a second of work', async () => {
  const report = "process.on('exit',()=>process.stderr.write(`${process.cpuUsage().user}`))";
  const argv = ['--import', `data:text/javascript,${report}`, built, '--help'];
  const { errors } = await run(process.execPath, argv);
  expect(Number(errors)).toBeLessThan(500_000);
}, 30_000);

it.each([
  [['nonsense'], /unknown command/],
  [['verify', '--nonsense'], /unknown option/],
  [['keys', 'create', 'main', '--name', 'x', '--scopes', 'all'], /Allowed choices/],
  [['erase', '--account', 'main', '--nsu', 'x', '--reason', 'x'], /at most 18 digits/],
])(
  'refuses %j with exit code 2, before it begins anything',
  async (argv, reason) => {
    const { code, out, errors } = await concilia(argv);
    expect([code, out]).toEqual([2, '']);
    expect(errors).toMatch(reason);
  },
  60_000,
);

it('says on stdout with --json that it failed', async () => {
  const url = `postgresql://127.0.0.1:${await freePort()}/concilia`;
  const { code, out, errors } = await concilia(['verify', '--json'], { DATABASE_URL: url });
  const { error } = JSON.parse(out) as { error: string };
  expect([code, error]).toEqual([1, expect.stringMatching(/^The database cannot be reached/)]);
  expect(errors).toContain(error);
}, 60_000);

describe('beside the service', () => {
  let databases: TestDatabase[] = [];
  let service: ConciliaProcess;
  let settings: Record<string, string> = {};
  beforeAll(async () => {
    databases = [await testDatabase('service'), await testDatabase('sandbox')];
    const [DATABASE_URL = '', SANDBOX_DATABASE_URL = ''] = databases.map(({ url }) => url);
    service = await ConciliaProcess.with({ DATABASE_URL, SANDBOX_DATABASE_URL });
    await service.start();
    settings = { DATABASE_URL, PORT: new URL(service.serviceUrl).port, SANDBOX_PORT: '0' };
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    for (const database of databases) await database.drop();
  });

  const json = async (argv: string[], more: Record<string, string> = {}) => {
    const { code, out, errors } = await concilia([...argv, '--json'], { ...settings, ...more });
    if (code !== 0) throw new Error(`exit code ${code}: ${errors}`);
    return JSON.parse(out) as Record<string, never>;
  };

  it('shows accounts, and stops and releases one', async () => {
    expect(await json(['accounts', 'list'])).toMatchObject({ accounts: [{ slug: 'main' }] });
    const names = ['--actor', 'Ana', '--reason', 'a test'];
    await json(['accounts', 'mode', 'main', 'stopped', ...names]);
    expect(await json(['accounts', 'show', 'main'])).toMatchObject({
      account: { mode: 'stopped' },
    });
    await json(['accounts', 'mode', 'main', 'live', ...names]);
  }, 120_000);

  it('makes a key that is printed once, and refuses it once it is revoked', async () => {
    const made = await json(['keys', 'create', 'main', '--name', 'shop', '--scopes', 'read']);
    const { id, key } = made as unknown as { id: string; key: string };
    const withKey = { CONCILIA_API_KEY: key };
    await json(['runs', 'list'], withKey);
    const listed = JSON.stringify(await json(['keys', 'list', 'main']));
    expect([listed.includes(id), listed.includes(key)]).toEqual([true, false]);
    // It lacks the scope reconcile.
    expect(await concilia(['runs', 'start'], { ...settings, ...withKey })).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/403, missing_scope.*reconcile/),
    });
    await json(['keys', 'revoke', 'main', id]);
    expect(await concilia(['runs', 'list'], { ...settings, ...withKey })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('401'),
    });
  }, 120_000);

  it('runs a reconciliation to its end, and exports what it has', async () => {
    expect(await json(['runs', 'start', '--watch'])).toMatchObject({ state: 'finished' });
    const file = join(folder, 'lines.csv');
    const exported = await json(['export', 'transactions', '--output', file]);
    expect(exported).toEqual({ file, bytes: readFileSync(file).length });
    expect(existsSync(`${file}.part`)).toBe(false);
    const wrong = ['export', 'breaks', '--format', 'ofx'];
    expect(await concilia(wrong, settings)).toMatchObject({ code: 1, out: '' });
  }, 120_000);

  it('shows the months, and fails on request while one cannot be closed', async () => {
    type Listed = { months: { month: string; state: string }[] };
    await databases[0]?.pool.query(
      `INSERT INTO day_close_state (account_id, next_date)
       SELECT id, to_char(now() AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') FROM bank_account
       ON CONFLICT DO NOTHING`,
    );
    // Without a line there is no month to close.
    expect(await json(['months', 'list'])).toEqual({ months: [] });
    await service.callBank('POST', '/sandbox/pix/received', { amount: 10 });
    await json(['runs', 'start', '--watch']);
    const { months } = (await json(['months', 'list'])) as unknown as Listed;
    const [{ month, state } = { month: '', state: '' }] = months;
    expect(state).toBe('open');
    expect(await json(['months', 'show', month])).toMatchObject({ month, state, decisions: [] });
    const checked = await concilia(['months', 'show', month, '--check'], settings);
    expect(checked).toMatchObject({
      code: 1,
      out: expect.stringMatching(/days_certified +not_met/),
    });
    const unknown = await concilia(['months', 'show', '2199-01', '--json'], settings);
    expect(unknown).toMatchObject({ code: 1, out: expect.stringContaining('404') });
  }, 120_000);

  it('invites a person, and examines the set-up', async () => {
    const invited = await json(['people', 'invite', '--email', 'a@example.com', '--role', 'admin']);
    expect(invited).toEqual({ path: expect.stringMatching(/^\/console\/link\/[\w-]{43}$/) });
    expect(await json(['people', 'list'])).toMatchObject({ people: [{ state: 'invited' }] });
    const { findings } = await json(['doctor', '--min-free', '1']);
    expect(findings).toContainEqual(
      expect.objectContaining({ subject: 'database', message: 'It has all migrations.' }),
    );
    const broken = await concilia(['doctor'], { ...settings, DATABSE_URL: 'x' });
    expect(broken).toMatchObject({ code: 1, out: expect.stringContaining('mean DATABASE_URL') });
  }, 120_000);
});
