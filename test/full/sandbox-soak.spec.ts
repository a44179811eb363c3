// Runs SOAK_OPERATIONS random operations concurrently. Afterwards the ledger audit finds no
// problem and each statement is one chain.
import { randomUUID } from 'node:crypto';
import { sandboxUnderTest, type SandboxUnderTest } from '../contract/bank-under-test.js';
import { newKeyHeader, pixSlip, slip, staticQr } from '../contract/samples.js';
import { until } from '../support/until.js';

const operations = Number(process.env.SOAK_OPERATIONS ?? 300);
const atOnce = 32;

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());

const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  bank.call('POST', path, { body, headers });
const cents = (most: number) => Math.ceil(Math.random() * most) / 100;
const chargeIds: string[] = [];
const anyCharge = () => chargeIds[Math.floor(Math.random() * chargeIds.length)];

const [first, second] = ['sandbox-dev-key', 'sandbox-dev-key-2'];

async function send(path: string, body: unknown, apiKey = first): Promise<number> {
  return (await bank.call('POST', path, { body, headers: newKeyHeader(), apiKey })).status;
}

async function issue(body: { correlationId: string }): Promise<number> {
  const { status } = await post('/baas/v1/charges', body);
  chargeIds.push(body.correlationId);
  return status;
}

interface Operation {
  name: string;
  /** The relative frequency. */
  weight: number;
  /** Returns the HTTP status of the response. */
  run: () => Promise<number>;
  /** The statuses that are correct after any other operations. */
  expected: number[];
}

/** The operations; a new kind is one more entry. */
const mix: Operation[] = [
  { name: 'slip', weight: 12, expected: [200], run: () => issue(slip()) },
  { name: 'slip with QR code', weight: 12, expected: [200], run: () => issue(pixSlip()) },
  {
    name: 'static QR code',
    weight: 6,
    expected: [200],
    run: async () => {
      const qr = staticQr();
      const { status } = await post('/baas/api/v2/pix/qrcode/static', qr, newKeyHeader());
      chargeIds.push(qr.correlationId);
      return status;
    },
  },
  {
    name: 'payment of a charge',
    weight: 25,
    // A slip is paid once.
    expected: [200, 409],
    run: async () => {
      const correlationId = anyCharge();
      if (!correlationId) return issue(slip());
      return (await post(`/baas/v1/charges/${correlationId}/pay`)).status;
    },
  },
  {
    name: 'incoming Pix',
    weight: 15,
    expected: [200],
    run: async () => (await post('/sandbox/pix/received', { amount: cents(50_000) })).status,
  },
  {
    name: 'other line',
    weight: 15,
    // A debit may exceed the balance.
    expected: [200, 422],
    run: async () => {
      const isCredit = Math.random() < 0.3;
      const account = Math.random() < 0.5 ? '1000001' : '1000002';
      const body = { amount: cents(100_000), isCredit, account, typeName: `SOAK_${randomUUID()}` };
      return (await post('/sandbox/transactions', body)).status;
    },
  },
  {
    name: 'load',
    weight: 1,
    expected: [200],
    run: async () => (await post('/sandbox/generate', { count: 20 })).status,
  },
  {
    name: 'statement',
    weight: 10,
    expected: [200],
    run: async () => (await bank.call('GET', '/baas/api/v2/transactions?limit=50')).status,
  },
  {
    name: 'ledger',
    weight: 2,
    expected: [200],
    run: async () => (await bank.call('GET', '/sandbox/ledger?limit=10&audit=false')).status,
  },
  {
    name: 'transfer between accounts',
    weight: 15,
    expected: [200, 422],
    run: async () => {
      const isFirst = Math.random() < 0.5;
      const body = {
        amount: cents(2_000),
        beneficiaryAccount: isFirst ? '1000002' : '1000001',
        externalId: randomUUID(),
      };
      return send('/baas/api/v2/transfers', body, isFirst ? first : second);
    },
  },
  {
    name: 'Pix by key',
    weight: 10,
    expected: [200, 422],
    run: async () => {
      const path = '/baas/api/v2/pix/dict/payment-initialization';
      const { body } = await post(path, { key: 'maria@pessoa-dois.example' });
      const { endToEndId } = body;
      return send('/baas/api/v2/transfers', {
        amount: cents(5_000),
        initiationType: 'KEY',
        endToEndId,
      });
    },
  },
  {
    name: 'manual Pix',
    weight: 10,
    expected: [200, 422],
    run: () =>
      send('/baas/api/v2/transfers', {
        amount: cents(5_000),
        beneficiary: {
          ...{ number: '7654321', branch: '0001', type: 'CURRENT', participantIspb: '88888888' },
          holder: { document: '52998224725', name: 'Quem Recebe', type: 'NATURAL' },
        },
      }),
  },
  {
    name: 'batch',
    weight: 3,
    expected: [200, 422],
    run: () => {
      const item = () => ({ amount: cents(500), beneficiaryAccountNumber: '1000002' });
      return send('/baas/v1/transfers/batch', [item(), item(), item()]);
    },
  },
  {
    name: 'bill',
    weight: 8,
    expected: [200, 422],
    run: async () => {
      const amount = cents(10_000);
      const bill = { type: Math.random() < 0.5 ? 'BANKSLIP' : 'TAXES', status: 'PENDING_PAYMENT' };
      const { body } = await post('/sandbox/bills', { ...bill, amount });
      return send('/baas/api/v1/bill-payments', { amount, barCode: body.barCode });
    },
  },
  {
    name: 'refund',
    weight: 15,
    // The refundable amount of the Pix and the balance decide.
    expected: [200, 404, 422],
    run: async () => {
      const path = `/baas/api/v1/transactions/${anyCharge() ?? 'none'}/refund`;
      const body = { amount: cents(8_000) };
      return (await bank.call('PUT', `${path}?filterBy=CORRELATION_ID`, { body })).status;
    },
  },
];

function draw(): Operation {
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  let position = Math.random() * total;
  return mix.find(({ weight }) => (position -= weight) < 0) ?? mix[0]!;
}

interface Line {
  nsu: number;
  amount: number;
  createdAt: string;
  type: { isCredit: boolean };
  balance: { balancePrevious: number; currentBalance: number };
}

/** Checks the chain page by page from the newest line to the first; returns the number of lines. */
async function followChain(apiKey: string): Promise<{ lines: number; opening: number }> {
  let later: Line | null = null;
  let count = 0;
  for (let page = 1; ; page += 1) {
    const path = `/baas/api/v2/transactions?limit=500&page=${page}`;
    const { body } = await bank.call('GET', path, { apiKey });
    for (const line of body as Line[]) {
      const { balancePrevious, currentBalance } = line.balance;
      const sign = line.type.isCredit ? 1 : -1;
      const moved = Math.round((currentBalance - balancePrevious) * 100);
      expect(moved).toBe(Math.round(sign * line.amount * 100));
      if (later) {
        expect(later.nsu).toBe(line.nsu + 1);
        expect(later.balance.balancePrevious).toBe(currentBalance);
        expect(later.createdAt >= line.createdAt).toBe(true);
      }
      later = line;
      count += 1;
    }
    if (body.length < 500) break;
  }
  expect(later?.nsu).toBe(1);
  return { lines: count, opening: later!.balance.balancePrevious };
}

it(
  'has a correct ledger after concurrent operations of every kind',
  async () => {
    const unexpected: string[] = [];
    let left = operations;
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (left-- > 0) {
          const { name, run, expected } = draw();
          const status = await run();
          if (!expected.includes(status)) unexpected.push(`${name}: ${status}`);
        }
      }),
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    if (process.env.SOAK_OPERATIONS)
      process.stdout.write(`${operations} in ${seconds.toFixed(1)} s\n`);
    expect(unexpected).toEqual([]);
    await until('every Pix has ended', async () => {
      const { rows } = await bank.pool.query(
        `SELECT count(*)::int AS pending FROM transfer
         WHERE status NOT IN ('EFFECTIVE', 'PIX_EFFECTIVE')`,
      );
      return rows[0].pending === 0;
    });
    const { body } = await bank.call('GET', '/sandbox/ledger?limit=1');
    expect(body.audit).toEqual({ clean: true, problems: [] });
    const [one, two] = [await followChain(first), await followChain(second)];
    expect([one.opening, two.opening]).toEqual([100_000, 5_000]);
    const { rows } = await bank.pool.query('SELECT count(*)::int AS lines FROM statement_line');
    expect(one.lines + two.lines).toBe(rows[0].lines);
  },
  Math.max(60_000, operations * 100),
);
