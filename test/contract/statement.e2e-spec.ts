import { addDays } from '../../src/brazil/calendar.js';
import { statementDayOf } from '../../src/brazil/statement-day.js';
import { bankUnderTest, eventually, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, pixSlip, slip, staticQr } from './samples.js';

interface TransactionJson {
  id: string;
  nsu: number;
  amount: number;
  correlationId?: string;
  createdAt: string;
  type: { name: string; description: string; isCredit: boolean };
  balance: { balancePrevious: number; currentBalance: number };
  proof: { endToEndId: string } | null;
}

let bank: BankUnderTest;
/** The correlationId of a charge that was paid by Pix, and its line. */
let paidCorrelationId: string;
let line: TransactionJson;
const lineCount = 12;

const list = async (query = '', version = 'v2'): Promise<TransactionJson[]> => {
  const response = await bank.call('GET', `/baas/api/${version}/transactions${query}`);
  expect(response.status).toBe(200);
  return response.body as TransactionJson[];
};
const toCents = (reais: number) => Math.round(reais * 100);

beforeAll(async () => {
  bank = await bankUnderTest();
  for (let index = 1; index < lineCount; index += 1) {
    const request = slip({ Amount: index });
    await bank.call('POST', '/baas/v1/charges', { body: request });
    await bank.call('POST', `/baas/v1/charges/${request.correlationId}/pay`);
  }
  const request = pixSlip({ Amount: 77.07 });
  paidCorrelationId = request.correlationId;
  await bank.call('POST', '/baas/v1/charges', { body: request });
  await bank.call('POST', `/baas/v1/charges/${paidCorrelationId}/pay`);
  line = await eventually(async () => {
    const lines = await list('?limit=50');
    expect(lines.length).toBeGreaterThanOrEqual(lineCount);
    const found = lines.find((candidate) => candidate.correlationId === paidCorrelationId);
    expect(found).toBeDefined();
    return found!;
  });
});
afterAll(() => bank.stop());

it('shows every line with a proof that is an object', async () => {
  const lines = await list('?limit=100');
  expect(lines.length).toBeGreaterThan(0);
  for (const { proof } of lines) expect(proof).toEqual(expect.any(Object));
});

it('shows a received Pix with its proof', () => {
  const proofParty = {
    number: expect.any(String),
    branch: expect.any(String),
    type: expect.any(String),
    holder: { document: expect.any(String), name: expect.any(String), type: expect.any(String) },
    participant: { name: expect.any(String), ispb: expect.stringMatching(/^[0-9A-Z]{8}$/) },
  };
  expect(line).toMatchObject({
    id: expect.any(String),
    correlationId: paidCorrelationId,
    nsu: expect.any(Number),
    amount: 77.07,
    createdAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
    type: { name: 'CREDIT_PIX', description: expect.any(String), isCredit: true },
    proof: {
      endToEndId: expect.stringMatching(/^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/),
      status: 'PIX_EFFECTIVE',
      type: expect.stringMatching(/^PIX_/),
      amount: 77.07,
      payer: proofParty,
      beneficiary: proofParty,
    },
  });
});

it('returns ten lines by default, and pages without overlap or gap', async () => {
  expect(await list()).toHaveLength(10);
  const nsusOf = async (query: string) => (await list(query)).map(({ nsu }) => nsu);
  // Another test may add a line between two pages. Then the pages are read again.
  const { expected, pages } = await eventually(async () => {
    const before = await nsusOf('?limit=10');
    const found = [...(await nsusOf('?page=1&limit=5')), ...(await nsusOf('?page=2&limit=5'))];
    expect(await nsusOf('?limit=10')).toEqual(before);
    return { expected: before, pages: found };
  });
  expect(pages).toEqual(expected);
  expect(await list('?page=100000')).toEqual([]);
});

it('returns the same lines under v1', async () => {
  // A line may appear between the two readings.
  await eventually(async () =>
    expect(await list('?limit=5', 'v1')).toEqual(await list('?limit=5')),
  );
});

it('shows an unbroken chain of balances', async () => {
  const lines = (await list('?limit=50')).sort((a, b) => a.nsu - b.nsu);
  let previous: number | null = null;
  for (const { amount, type, balance } of lines) {
    const change = type.isCredit ? toCents(amount) : -toCents(amount);
    expect(toCents(balance.balancePrevious) + change).toBe(toCents(balance.currentBalance));
    if (previous !== null) expect(toCents(balance.balancePrevious)).toBe(previous);
    previous = toCents(balance.currentBalance);
  }
  expect(new Set(lines.map(({ nsu }) => nsu)).size).toBe(lines.length);
});

it('returns exactly the line with a given nsu or endToEndId', async () => {
  expect(await list(`?nsu=${line.nsu}`)).toEqual([line]);
  expect(await list(`?endToEndId=${line.proof!.endToEndId}`)).toEqual([line]);
  // The nsu takes precedence over other filters.
  expect(await list(`?nsu=${line.nsu}&isCredit=false&page=2`)).toEqual([line]);
  expect(await list('?nsu=999999999999')).toEqual([]);
  expect(await list('?endToEndId=E00000000202601010000AAAAAAAAAAA')).toEqual([]);
});

it('filters by direction and by one or several types', async () => {
  expect((await list('?isCredit=true&limit=50')).every(({ type }) => type.isCredit)).toBe(true);
  expect((await list('?isCredit=false&limit=50')).every(({ type }) => !type.isCredit)).toBe(true);
  const pixes = await list('?type=CREDIT_PIX&limit=50');
  expect(pixes.map(({ nsu }) => nsu)).toContain(line.nsu);
  expect(pixes.every(({ type }) => type.name === 'CREDIT_PIX')).toBe(true);
  expect(await list('?type=CREDIT_PIX&type=DEBIT_PIX&isCredit=true&limit=50')).toEqual(pixes);
});

it('begins days at 03:00Z, includes startDate and excludes endDate', async () => {
  const day = statementDayOf(new Date(line.createdAt));
  const isListed = async (query: string) =>
    (await list(`${query}&limit=50`)).some(({ nsu }) => nsu === line.nsu);
  expect(await isListed(`?startDate=${day}`)).toBe(true);
  expect(await isListed(`?startDate=${day}&endDate=${addDays(day, 1)}`)).toBe(true);
  expect(await isListed(`?startDate=${addDays(day, 1)}`)).toBe(false);
  expect(await isListed(`?endDate=${day}`)).toBe(false);
});

it.each([
  'page=0',
  'page=-1',
  'page=one',
  'limit=0',
  'limit=-5',
  'startDate=2026-02-30',
  'endDate=31/12/2026',
  'startDate=yesterday',
  'isCredit=maybe',
  'type=NO_SUCH_TYPE',
  'nsu=first',
])('rejects ?%s', async (query) => {
  const path = `$.${query.slice(0, query.indexOf('='))}`;
  expectError(await bank.call('GET', `/baas/api/v2/transactions?${query}`), 400, path);
});

it('shows every payment of a static QR code with its correlationId', async () => {
  const request = staticQr({ amount: 3.21 });
  await bank.call('POST', '/baas/api/v2/pix/qrcode/static', {
    body: request,
    headers: newKeyHeader(),
  });
  const path = `/baas/v1/charges/${request.correlationId}/pay`;
  expect((await bank.call('POST', path)).status).toBe(200);
  expect((await bank.call('POST', path)).status).toBe(200);
  await eventually(async () => {
    const lines = await list('?limit=20');
    const credits = lines.filter(({ correlationId }) => correlationId === request.correlationId);
    expect(credits.map(({ amount }) => amount)).toEqual([3.21, 3.21]);
  });
});

it('sends its time in the Date header', async () => {
  const response = await bank.call('GET', '/baas/api/v2/transactions?limit=1');
  expect(Date.parse(response.headers.get('date') ?? '')).not.toBeNaN();
});
