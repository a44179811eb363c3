import { addDays } from '../../src/brazil/calendar.js';
import { statementDayOf } from '../../src/brazil/statement-day.js';
import { bankUnderTest, eventually, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKey, pixSlip, slip, staticQr } from './samples.js';

interface Line {
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
let paid: string;
let line: Line;
const count = 12;

const list = async (query = '', version = 'v2'): Promise<Line[]> => {
  const answer = await bank.call('GET', `/baas/api/${version}/transactions${query}`);
  expect(answer.status).toBe(200);
  return answer.body as Line[];
};
const cents = (reais: number) => Math.round(reais * 100);

beforeAll(async () => {
  bank = await bankUnderTest();
  for (let index = 1; index < count; index += 1) {
    const request = slip({ Amount: index });
    await bank.call('POST', '/baas/v1/charges', { body: request });
    await bank.call('POST', `/baas/v1/charges/${request.correlationId}/pay`);
  }
  const request = pixSlip({ Amount: 77.07 });
  paid = request.correlationId;
  await bank.call('POST', '/baas/v1/charges', { body: request });
  await bank.call('POST', `/baas/v1/charges/${paid}/pay`);
  line = await eventually(async () => {
    const lines = await list('?limit=50');
    expect(lines.length).toBeGreaterThanOrEqual(count);
    const found = lines.find((candidate) => candidate.correlationId === paid);
    expect(found).toBeDefined();
    return found!;
  });
});
afterAll(() => bank.stop());

it('tells a received Pix with its proof', () => {
  const party = {
    number: expect.any(String),
    branch: expect.any(String),
    type: expect.any(String),
    holder: { document: expect.any(String), name: expect.any(String), type: expect.any(String) },
    participant: { name: expect.any(String), ispb: expect.stringMatching(/^[0-9A-Z]{8}$/) },
  };
  expect(line).toMatchObject({
    id: expect.any(String),
    correlationId: paid,
    nsu: expect.any(Number),
    amount: 77.07,
    createdAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
    type: { name: 'CREDIT_PIX', description: expect.any(String), isCredit: true },
    proof: {
      endToEndId: expect.stringMatching(/^E[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/),
      status: 'PIX_EFFECTIVE',
      type: expect.stringMatching(/^PIX_/),
      amount: 77.07,
      payer: party,
      beneficiary: party,
    },
  });
});

it('answers ten lines by default, and pages that neither overlap nor leave a hole', async () => {
  expect(await list()).toHaveLength(10);
  const whole = await list('?limit=12');
  const pages = [...(await list('?page=1&limit=5')), ...(await list('?page=2&limit=5'))];
  expect(pages.map(({ nsu }) => nsu)).toEqual(whole.slice(0, 10).map(({ nsu }) => nsu));
  expect(await list('?page=100000')).toEqual([]);
});

it('answers the same lines under v1', async () => {
  expect(await list('?limit=5', 'v1')).toEqual(await list('?limit=5'));
});

it('carries the balance from line to line', async () => {
  const lines = (await list('?limit=50')).sort((a, b) => a.nsu - b.nsu);
  let previous: number | null = null;
  for (const { amount, type, balance } of lines) {
    const change = type.isCredit ? cents(amount) : -cents(amount);
    expect(cents(balance.balancePrevious) + change).toBe(cents(balance.currentBalance));
    if (previous !== null) expect(cents(balance.balancePrevious)).toBe(previous);
    previous = cents(balance.currentBalance);
  }
  expect(new Set(lines.map(({ nsu }) => nsu)).size).toBe(lines.length);
});

it('finds a line by nsu and by endToEndId, and only that one', async () => {
  expect(await list(`?nsu=${line.nsu}`)).toEqual([line]);
  expect(await list(`?endToEndId=${line.proof!.endToEndId}`)).toEqual([line]);
  // Whatever else is asked for.
  expect(await list(`?nsu=${line.nsu}&isCredit=false&page=2`)).toEqual([line]);
  expect(await list('?nsu=999999999999')).toEqual([]);
  expect(await list('?endToEndId=E00000000202601010000AAAAAAAAAAA')).toEqual([]);
});

it('filters by sign and by type, several types with the parameter repeated', async () => {
  expect((await list('?isCredit=true&limit=50')).every(({ type }) => type.isCredit)).toBe(true);
  expect((await list('?isCredit=false&limit=50')).every(({ type }) => !type.isCredit)).toBe(true);
  const pixes = await list('?type=CREDIT_PIX&limit=50');
  expect(pixes.map(({ nsu }) => nsu)).toContain(line.nsu);
  expect(pixes.every(({ type }) => type.name === 'CREDIT_PIX')).toBe(true);
  expect(await list('?type=CREDIT_PIX&type=DEBIT_PIX&isCredit=true&limit=50')).toEqual(pixes);
});

it('cuts days at 03:00Z: the start is included, the end is not', async () => {
  const day = statementDayOf(new Date(line.createdAt));
  const isIn = async (query: string) =>
    (await list(`${query}&limit=50`)).some(({ nsu }) => nsu === line.nsu);
  expect(await isIn(`?startDate=${day}`)).toBe(true);
  expect(await isIn(`?startDate=${day}&endDate=${addDays(day, 1)}`)).toBe(true);
  expect(await isIn(`?startDate=${addDays(day, 1)}`)).toBe(false);
  expect(await isIn(`?endDate=${day}`)).toBe(false);
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
])('refuses ?%s', async (query) => {
  const path = `$.${query.slice(0, query.indexOf('='))}`;
  expectError(await bank.call('GET', `/baas/api/v2/transactions?${query}`), 400, path);
});

it('credits every payment of a static QR code to its correlationId', async () => {
  const request = staticQr({ amount: 3.21 });
  await bank.call('POST', '/baas/api/v2/pix/qrcode/static', { body: request, headers: newKey() });
  const path = `/baas/v1/charges/${request.correlationId}/pay`;
  expect((await bank.call('POST', path)).status).toBe(200);
  expect((await bank.call('POST', path)).status).toBe(200);
  await eventually(async () => {
    const lines = await list('?limit=20');
    const credits = lines.filter(({ correlationId }) => correlationId === request.correlationId);
    expect(credits.map(({ amount }) => amount)).toEqual([3.21, 3.21]);
  });
});

it('answers its time in every answer', async () => {
  const answer = await bank.call('GET', '/baas/api/v2/transactions?limit=1');
  expect(Date.parse(answer.headers.get('date') ?? '')).not.toBeNaN();
});
