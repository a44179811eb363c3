// POST /sandbox/generate: many statement lines at once.
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
  proof: Record<string, unknown>;
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

it('generates the requested number of lines and returns the count of each type', async () => {
  const before = Date.now();
  const { status, body: counts } = await generate({ count: 2_000 });
  expect(status).toBe(200);
  expect(sumOf(counts)).toBe(2_000);
  const lines = await statement();
  const listed: Record<string, number> = {};
  for (const { type } of lines) listed[type.name] = (listed[type.name] ?? 0) + 1;
  expect(listed).toEqual(counts);
  expect(await audit()).toEqual(clean);
  let balance = 10_000_000;
  for (const [index, line] of lines.entries()) {
    expect(line.nsu).toBe(index + 1);
    expect(Math.round(line.balance.balancePrevious * 100)).toBe(balance);
    balance += Math.round(line.amount * 100) * (line.type.isCredit ? 1 : -1);
    expect(Math.round(line.balance.currentBalance * 100)).toBe(balance);
    const { amount, paidAmount } = line.proof;
    if (line.type.name === 'DEBIT_FEE') expect(line.proof).toEqual({});
    else expect(amount ?? paidAmount).toBe(line.amount);
  }
  // Spread over the thirty days before now, none in the future.
  const times = lines.map(({ createdAt }) => Date.parse(createdAt));
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(times[0]).toBeGreaterThanOrEqual(before - 30 * 86_400_000);
  expect(times[0]).toBeLessThan(before - 29 * 86_400_000);
  expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
  expect(times.at(-1)).toBeGreaterThan(before - 86_400_000);
});

it('stores a charge for each credit with a correlationId, and a transfer for each sent Pix', async () => {
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
     JOIN statement_line AS line
       ON line.account_id = transfer.account_id AND line.nsu = transfer.transaction_nsu
     WHERE line.end_to_end_id = transfer.end_to_end_id
       AND line.change_cents = -transfer.amount_cents`,
  );
  expect(sent.rows[0].count).toBe(counts.DEBIT_PIX);
  // A generated slip is a paid slip like any other: it cannot be paid again.
  const slip = (await statement()).find(({ type }) => type.name === 'CREDIT_BANKSLIP')!;
  expectError(await bank.call('POST', `/baas/v1/charges/${slip.correlationId}/pay`), 409);
});

it('generates the same lines from the same seed on a new bank, and others from another', async () => {
  const linesOf = async (seed: number) => {
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
  const first = await linesOf(7);
  expect(await linesOf(7)).toEqual(first);
  expect(await linesOf(8)).not.toEqual(first);
});

it('continues from the last line of the given account', async () => {
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

it('generates no line after now while the clock is frozen', async () => {
  await bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
  await generate({ count: 10, days: 1 });
  await generate({ count: 10 });
  const { now } = await get('/sandbox/clock');
  const lines = await statement();
  expect(lines.every(({ createdAt }) => createdAt <= now)).toBe(true);
  expect(await audit()).toEqual(clean);
});

it('writes one chain under concurrent generations and other movements of one account', async () => {
  await bank.call('PATCH', '/sandbox/modes', { body: { balanceOrder: 'commit' } });
  const line = { amount: 1.5, isCredit: true, typeName: 'ANY_LINE' };
  const responses = await Promise.all([
    ...Array.from({ length: 3 }, () => generate({ count: 700, seed: 5 })),
    ...Array.from({ length: 30 }, () => bank.call('POST', '/sandbox/transactions', { body: line })),
  ]);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect((await statement()).length).toBe(3 * 700 + 30);
  expect(await audit()).toEqual(clean);
});

it('writes no webhook delivery and no due task', async () => {
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
    'SELECT (SELECT count(*) FROM webhook_delivery) + (SELECT count(*) FROM due_task) AS pending',
  );
  expect(rows).toEqual([{ pending: '0' }]);
});

it('returns the ledger in pages, and without its audit on request', async () => {
  await generate({ count: 250 });
  const whole = (await get('/sandbox/ledger')).movements;
  const page = await get('/sandbox/ledger?account=1000001&after=100&limit=50&audit=false');
  expect(page.movements).toEqual(whole.slice(100, 150));
  expect(page).not.toHaveProperty('audit');
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

it('refuses an unknown account, an internal account and a request without a key', async () => {
  expectError(await generate({ count: 1, account: '9999999' }), 404);
  expectError(await generate({ count: 1, account: 'spi' }), 404);
  expectError(
    await bank.call('POST', '/sandbox/generate', { body: { count: 1 }, apiKey: null }),
    401,
  );
});
