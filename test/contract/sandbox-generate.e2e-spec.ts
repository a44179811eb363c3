// A load of lines at once: asked of a sandbox alone.
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());
beforeEach(async () => {
  await bank.call('POST', '/sandbox/reset');
});

const generate = (body: unknown) => bank.call('POST', '/sandbox/generate', { body });
const get = async (path: string) => (await bank.call('GET', path)).body;
const audit = async () => (await get('/sandbox/ledger?limit=1')).audit;
const clean = { clean: true, problems: [] };
const sumOf = (counts: Record<string, number>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

interface Line {
  id: string;
  nsu: number;
  correlationId?: string;
  amount: number;
  createdAt: string;
  type: { name: string; isCredit: boolean };
  balance: { balancePrevious: number; currentBalance: number };
  proof: Record<string, unknown> | null;
}

/** The whole statement, oldest first. */
async function statement(): Promise<Line[]> {
  const lines: Line[] = [];
  for (let page = 1; ; page += 1) {
    const found = (await get(`/baas/api/v2/transactions?limit=1000&page=${page}`)) as Line[];
    lines.unshift(...found.reverse());
    if (found.length < 1_000) return lines;
  }
}

it('fills a statement with as many lines as were asked for, and tells how many of each', async () => {
  const before = Date.now();
  const { status, body: counts } = await generate({ count: 2_000 });
  expect(status).toBe(200);
  expect(sumOf(counts)).toBe(2_000);
  const lines = await statement();
  const told: Record<string, number> = {};
  for (const { type } of lines) told[type.name] = (told[type.name] ?? 0) + 1;
  expect(told).toEqual(counts);
  expect(await audit()).toEqual(clean);
  let balance = 10_000_000;
  for (const [index, line] of lines.entries()) {
    expect(line.nsu).toBe(index + 1);
    expect(Math.round(line.balance.balancePrevious * 100)).toBe(balance);
    balance += Math.round(line.amount * 100) * (line.type.isCredit ? 1 : -1);
    expect(Math.round(line.balance.currentBalance * 100)).toBe(balance);
    if (line.proof) expect(line.proof.amount ?? line.proof.paidAmount).toBe(line.amount);
  }
  // Spread over the thirty days before now, none of them ahead.
  const times = lines.map(({ createdAt }) => Date.parse(createdAt));
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(times[0]).toBeGreaterThanOrEqual(before - 30 * 86_400_000);
  expect(times[0]).toBeLessThan(before - 29 * 86_400_000);
  expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
  expect(times.at(-1)).toBeGreaterThan(before - 86_400_000);
});

it('has a charge behind each credit that names one, and a transfer behind each sent Pix', async () => {
  const { body: counts } = await generate({ count: 1_000 });
  const { rows } = await bank.pool.query(
    `SELECT count(*)::int AS lines, count(charge.id)::int AS charges,
            count(DISTINCT charge.id)::int AS different
     FROM statement_line AS line
     LEFT JOIN charge USING (account_id, correlation_id) WHERE line.correlation_id IS NOT NULL`,
  );
  expect(rows[0].charges).toBe(rows[0].lines);
  // Static QR codes are paid several times.
  expect(rows[0].different).toBeLessThan(rows[0].lines);
  const sent = await bank.pool.query(
    `SELECT count(*)::int AS count FROM transfer
     JOIN statement_line AS line ON line.account_id = transfer.account_id AND line.nsu = transfer.transaction_nsu
     WHERE line.end_to_end_id = transfer.end_to_end_id AND line.change_cents = -transfer.amount_cents`,
  );
  expect(sent.rows[0].count).toBe(counts.DEBIT_PIX);
  // A paid slip cannot be paid again; its place in the book is that of any other.
  const slip = (await statement()).find(({ type }) => type.name === 'CREDIT_BANKSLIP')!;
  expectError(await bank.call('POST', `/baas/v1/charges/${slip.correlationId}/pay`), 409);
});

it('gives the same lines for the same seed on a new bank, and others for another', async () => {
  const told = async (seed: number) => {
    await bank.call('POST', '/sandbox/reset');
    await generate({ count: 300, seed });
    return (await statement()).map(({ id, nsu, type, amount, correlationId }) => ({
      id,
      nsu,
      amount,
      correlationId,
      name: type.name,
    }));
  };
  const first = await told(7);
  expect(await told(7)).toEqual(first);
  expect(await told(8)).not.toEqual(first);
});

it('goes on from the last line, for the account that is named', async () => {
  await generate({ count: 100, account: '1000002', days: 3_650 });
  const last = (await get('/sandbox/ledger?account=1000002')).movements.at(-1);
  expect((await generate({ count: 100, account: '1000002' })).status).toBe(200);
  const { accounts, movements } = await get('/sandbox/ledger');
  expect(movements).toHaveLength(200);
  expect(movements[100].createdAt >= last.createdAt).toBe(true);
  expect(movements.every(({ account }: { account: string }) => account === '1000002')).toBe(true);
  expect(accounts[0].balance).toBe(100_000);
  expect(await audit()).toEqual(clean);
});

it('makes lines of one moment where the clock stands still', async () => {
  await bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
  await generate({ count: 10, days: 1 });
  await generate({ count: 10 });
  const { now } = await get('/sandbox/clock');
  const lines = await statement();
  expect(lines.every(({ createdAt }) => createdAt <= now)).toBe(true);
  expect(await audit()).toEqual(clean);
});

it('keeps one chain when several load one account, and others move it meanwhile', async () => {
  await bank.call('PATCH', '/sandbox/modes', { body: { balanceOrder: 'commit' } });
  const line = { amount: 1.5, isCredit: true, typeName: 'ANY_LINE' };
  const answers = await Promise.all([
    ...Array.from({ length: 3 }, () => generate({ count: 700, seed: 5 })),
    ...Array.from({ length: 30 }, () => bank.call('POST', '/sandbox/transactions', { body: line })),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect((await statement()).length).toBe(3 * 700 + 30);
  expect(await audit()).toEqual(clean);
});

it('tells no webhook and owes no task', async () => {
  await bank.call('POST', '/baas/api/v1/webhooks', {
    body: {
      eventType: 'CHARGE_PAID',
      url: 'http://127.0.0.1:9/',
      authorizationScheme: 'HEADER',
      authorization: 'x-key: secret',
    },
  });
  await generate({ count: 100 });
  const { rows } = await bank.pool.query(
    'SELECT (SELECT count(*) FROM webhook_delivery) + (SELECT count(*) FROM due_task) AS owed',
  );
  expect(rows).toEqual([{ owed: '0' }]);
});

it('reads the ledger by pieces, and without its audit where that is asked', async () => {
  await generate({ count: 250 });
  const whole = (await get('/sandbox/ledger')).movements;
  const piece = await get('/sandbox/ledger?account=1000001&after=100&limit=50&audit=false');
  expect(piece.movements).toEqual(whole.slice(100, 150));
  expect(piece).not.toHaveProperty('audit');
  expectError(await bank.call('GET', '/sandbox/ledger?audit=no'), 400, '$.audit');
});

it.each<[unknown, string]>([
  [{}, '$.count'],
  [{ count: 0 }, '$.count'],
  [{ count: 2_000_001 }, '$.count'],
  [{ count: 1.5 }, '$.count'],
  [{ count: '10' }, '$.count'],
  [{ count: 1, days: 0 }, '$.days'],
  [{ count: 1, days: 3_651 }, '$.days'],
  [{ count: 1, seed: 'one' }, '$.seed'],
  [{ count: 1, account: 1_000_001 }, '$.account'],
])('refuses %j', async (body, path) => {
  expectError(await generate(body), 400, path);
});

it('knows no account of that number, nor who has no key', async () => {
  expectError(await generate({ count: 1, account: '9999999' }), 404);
  expectError(await generate({ count: 1, account: 'spi' }), 404);
  expectError(
    await bank.call('POST', '/sandbox/generate', { body: { count: 1 }, apiKey: null }),
    401,
  );
});
