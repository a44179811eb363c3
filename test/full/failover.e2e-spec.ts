// A failover that loses commits: the primary is killed under load, and the service goes on with a
// standby that lacks the last 1, 10 or 100 commits. Then the steps of
// docs/how-to/backup-restore.md, and every client repeats its request: nothing is paid twice, and
// nothing that was paid is called not executed. `FAILOVER=all` plays each loss in each preset.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { examineDatabase } from '../../src/app/doctor/database-check.js';
import { migrateServiceDatabase } from '../../src/platform/postgres/service-migrations.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import { presets, type Preset } from '../../src/sandbox/presets/presets.js';
import { batchItem, internalTransfer, manualTransfer } from '../contract/transfer-samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { hasPostgres15, ReplicatedPostgres } from '../support/replicated-postgres.js';
import { until } from '../support/until.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
const bound = { BANK_VISIBILITY_BOUND_MS: '1000' };
const requestsOfCase = 170;
const answeredBeforeTheKill = 150;
const clients = 8;
/** Of equal requests without an id: the same amount for the same receiver. */
const equalAmount = 5;

const losses = [1, 10, 100];
const cases: [Preset, number][] =
  process.env.FAILOVER === 'all'
    ? presets.flatMap((preset) => losses.map((lost): [Preset, number] => [preset, lost]))
    : [
        ['complete', 1],
        ['published', 10],
        ['contract', 100],
      ];

interface Request {
  method: string;
  path: string;
  body: object;
  key: string;
  /** In reais; each is of one request alone, but for `equalAmount`. */
  amounts: number[];
}

interface Answer {
  status: number;
  code: string | null;
}

interface World {
  bank: TestDatabase;
  servers: ReplicatedPostgres;
  concilia: ConciliaProcess;
}

function requestOf(index: number, receivedNsu: number): Request {
  const cents = 100 + index * 101;
  const amount = cents / 100;
  const transfer = (body: object, amounts: number[]): Request => {
    return { method: 'POST', path: '/baas/api/v2/transfers', body, key: randomUUID(), amounts };
  };
  if (index % 5 === 0) return transfer(internalTransfer({ amount }), [amount]);
  if (index % 5 === 1) return transfer(manualTransfer({ amount }), [amount]);
  if (index % 5 === 2) return transfer(manualTransfer({ amount: equalAmount }), [equalAmount]);
  const others = { key: randomUUID(), amounts: [amount] };
  if (index % 5 === 3) {
    const path = `/baas/api/v1/transactions/${receivedNsu}/refund?filterBy=NSU`;
    return { ...others, method: 'PUT', path, body: { amount } };
  }
  const amounts = [amount, (cents + 40_000) / 100];
  const items = amounts.map((one) => batchItem({ amount: one }));
  return { ...others, method: 'POST', path: '/baas/v1/transfers/batch', body: items, amounts };
}

async function send({ concilia }: World, request: Request): Promise<Answer> {
  const { method, path, body, key } = request;
  const headers = { IdempotencyKey: key };
  const answered = await concilia.callService<{ code?: string }>(method, path, body, headers);
  return { status: answered.status, code: answered.body.code ?? null };
}

/** Sends the requests by concurrent clients. Null where no response came. */
async function sendAll(
  world: World,
  requests: readonly Request[],
  onAnswer: (count: number) => Promise<void> = () => Promise.resolve(),
): Promise<(Answer | null)[]> {
  const answers: (Answer | null)[] = requests.map(() => null);
  let next = 0;
  let count = 0;
  const client = async () => {
    while (next < requests.length) {
      const index = next;
      next += 1;
      answers[index] = await send(world, requests[index]!).catch(() => null);
      count += 1;
      await onAnswer(count);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
}

async function newWorld(preset: Preset): Promise<World> {
  const servers = await ReplicatedPostgres.start(async (url) => {
    await migrateServiceDatabase(url, 60_000, () => undefined);
  });
  const bank = await testDatabase('sandbox');
  return { servers, bank, concilia: await processOn(servers.primary.url, bank, preset) };
}

/** Starts the service with a bank. Returns the nsu of a Pix of which each refund is a part. */
async function startWorld(world: World, preset: Preset): Promise<number> {
  const { bank, servers } = world;
  await world.concilia.start();
  const pix = { amount: 20_000 };
  const { body } = await world.concilia.callBank<{ nsu: number }>(
    ...['POST', '/sandbox/pix/received', pix],
  );
  await until('the service has a statement', async () => {
    const found = await servers.primary.query('SELECT nsu FROM statement_line');
    return found.length > 0;
  });
  await world.concilia.stop();
  // Without timers, the last commits are those of requests.
  const roles = { ROLES: 'api,sandbox', PUBLIC_URL: 'http://127.0.0.1:9' };
  world.concilia = await processOn(servers.primary.url, bank, preset, roles);
  await world.concilia.start();
  return body.nsu;
}

const processOn = (
  url: string,
  bank: TestDatabase,
  preset: Preset,
  environment: Record<string, string> = {},
): Promise<ConciliaProcess> =>
  ConciliaProcess.with({
    ...{ DATABASE_URL: url, SANDBOX_DATABASE_URL: bank.url, SANDBOX_PRESET: preset },
    ...{ ...bound, ...environment },
  });

const restored = ({ servers }: World, ...argv: string[]) =>
  new Promise<{ exitCode: number | null; printed: string }>((resolve, reject) => {
    const settings = { DATABASE_URL: servers.standby.url, ...bound };
    const env = { PATH: process.env.PATH, HOME: tmpdir(), ...settings };
    const child = spawn(process.execPath, [program, 'restored', ...argv], { cwd: tmpdir(), env });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, printed }));
  });

/** How often the bank has debited each amount, in reais. */
async function readDebits({ bank }: World): Promise<Map<number, number>> {
  const { rows } = await bank.pool.query<{ cents: string; count: number }>(
    `SELECT (-e.change_cents)::text AS cents, count(*)::int AS count
     FROM entry e JOIN movement m ON m.id = e.movement_id JOIN account a ON a.id = e.account_id
     WHERE a.number = '1000001' AND e.change_cents < 0 GROUP BY 1`,
  );
  return new Map(rows.map(({ cents, count }) => [Number(cents) / 100, count]));
}

async function readStates({ servers }: World): Promise<Map<string, string>> {
  const rows = await servers.standby.query('SELECT idempotency_key, state FROM operation');
  return new Map(rows.map((row) => [String(row.idempotency_key), String(row.state)]));
}

/** The keys of the operations whose ends were lost, whatever became of them since. */
async function readUnfinished({ servers }: World): Promise<Set<string>> {
  const rows = await servers.standby.query(
    `SELECT o.idempotency_key FROM operation o JOIN operation_attempt a
       ON a.account_id = o.account_id AND a.operation_id = o.id WHERE a.reason = 'restored'`,
  );
  return new Set(rows.map((row) => String(row.idempotency_key)));
}

/** Sends until the primary is killed, and on. Returns the number of commits until then. */
async function failUnderLoad(world: World, requests: readonly Request[]): Promise<number> {
  let killed: Promise<number> | undefined;
  const kill = () => (killed ??= world.servers.killPrimary());
  await sendAll(world, requests, async (count) => {
    if (count >= answeredBeforeTheKill) await kill();
  });
  await world.concilia.kill();
  return kill();
}

/** The steps of docs/how-to/backup-restore.md. */
async function recover(world: World, preset: Preset, lost: number): Promise<void> {
  const { servers, bank } = world;
  await servers.promote(lost);
  expect(await restored(world, '--actor', 'Ana')).toMatchObject({ exitCode: 0 });
  world.concilia = await processOn(servers.standby.url, bank, preset);
  await world.concilia.start();
  const released = await until(
    'the account is released',
    async () => {
      await sleep(1_500);
      const result = await restored(world, '--release', '--actor', 'Ana');
      return result.exitCode === 0 && result;
    },
    90_000,
  );
  expect(released.printed).toContain('main: released');
}

/** What `concilia doctor` says of a standby, while the primary waits for it and while not. */
async function expectAdvice({ servers: { primary } }: World): Promise<void> {
  const settings = loadSettings({ DATABASE_URL: primary.url, DATA_DIR: tmpdir() });
  const finds = (message: string) =>
    until(`the doctor finds that ${message}`, async () =>
      (await examineDatabase(settings)).some((finding) => finding.message.includes(message)),
    );
  const waitFor = async (names: string) => {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await primary.query('SELECT pg_reload_conf()');
  };
  await finds('may lack the last commits');
  await waitFor('*');
  await finds('A commit waits until a standby has it.');
  await waitFor('');
}

/** How many requests fell before, between and after the calls of the bank that were lost. */
const positions = { before: 0, between: 0, after: 0 };

function countPositions(
  requests: readonly Request[],
  debits: ReadonlyMap<number, number>,
  states: ReadonlyMap<string, string>,
  unfinished: ReadonlySet<string>,
): void {
  for (const { key, amounts } of requests.filter(({ amounts: [one] }) => one !== equalAmount)) {
    const isExecuted = debits.has(amounts[0] ?? 0);
    const isStored = states.has(key);
    if (!isExecuted && !isStored) positions.before += 1;
    if (isExecuted && unfinished.has(key)) positions.between += 1;
    if (isExecuted && !isStored) positions.after += 1;
  }
}

const withoutEffect = ['rejected', 'not_executed', 'declined', 'expired'];

/** Compares what the bank has debited with what the service has answered, request by request. */
function expectHonest(
  requests: readonly Request[],
  answers: readonly (Answer | null)[],
  {
    before,
    after,
    states,
  }: Record<'before' | 'after', ReadonlyMap<number, number>> & {
    states: ReadonlyMap<string, string>;
  },
): void {
  const equal = requests.filter(({ amounts: [one] }) => one === equalAmount);
  expect(after.get(equalAmount) ?? 0).toBeLessThanOrEqual(equal.length);
  requests.forEach((request, index) => {
    const { key, amounts } = request;
    if (amounts[0] === equalAmount) return;
    const [answer, state] = [answers[index], states.get(key) ?? null];
    const facts = JSON.stringify({ request, answer, state });
    const counts = amounts.map((one) => after.get(one) ?? 0);
    expect([facts, ...counts]).toEqual([facts, ...amounts.map(() => counts[0])]);
    expect([facts, counts[0]]).toEqual([facts, counts[0] === 0 ? 0 : 1]);
    const isAnswered = [200, 202].includes(answer?.status ?? 0);
    const isHeld = answer?.code === 'possible_duplicate';
    // The Pix of a refund that was lost is frozen until a person links it.
    const isFrozen = answer?.code === 'refund_frozen';
    expect([facts, isAnswered || isHeld || isFrozen]).toEqual([facts, true]);
    if (counts[0] === 1)
      expect([facts, withoutEffect.includes(state ?? '')]).toEqual([facts, false]);
    else expect([facts, answer?.status === 200 || state === 'succeeded']).toEqual([facts, false]);
    // A request that is new to the bank and to the service is sent.
    if (isHeld) expect([facts, before.has(amounts[0] ?? 0)]).toEqual([facts, true]);
  });
}

(hasPostgres15 ? it : it.skip).each(cases)(
  'pays nothing twice and hides no payment (%s, the last %i commits lost)',
  async (preset, lost) => {
    const world = await newWorld(preset);
    try {
      const receivedNsu = await startWorld(world, preset);
      await expectAdvice(world);
      const requests = Array.from({ length: requestsOfCase }, (_, index) =>
        requestOf(index, receivedNsu),
      );
      expect(await failUnderLoad(world, requests)).toBeGreaterThan(lost);
      const startedMs = performance.now();
      await recover(world, preset, lost);
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      const before = await readDebits(world);
      countPositions(requests, before, await readStates(world), await readUnfinished(world));
      const answers = await sendAll(world, requests);
      process.stderr.write(
        `${preset}, ${lost} commits lost: ${seconds} s until the release; so far ` +
          `${JSON.stringify(positions)}\n`,
      );
      await until('no operation is being sent', async () => {
        const states = [...(await readStates(world)).values()];
        return !states.includes('received') && !states.includes('sending');
      });
      const [after, states] = [await readDebits(world), await readStates(world)];
      expectHonest(requests, answers, { before, after, states });
    } finally {
      await world.concilia.stop();
      await world.servers.stop();
      await world.bank.drop();
    }
  },
  300_000,
);

it('has lost commits before, between and after calls of the bank', () => {
  if (!hasPostgres15) {
    process.stderr.write('The drill is skipped: PostgreSQL 15 is not installed.\n');
    return;
  }
  expect(Object.values(positions).every((count) => count > 0)).toBe(true);
});
