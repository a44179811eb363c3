// The statement under modes and faults: its order, hidden ids, lines that appear late, and pages
// that shift.
import type { FaultRequest } from '../../../src/sandbox/faults/fault.js';
import { Faults } from '../../../src/sandbox/faults/faults.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { expectError } from '../../contract/samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  await moveClock({ now: '2027-03-02T12:00:00Z', frozen: true });
});
afterEach(async () => {
  expect((await ledger()).audit).toEqual({ clean: true, problems: [] });
  await bank.stop();
});

interface Line {
  nsu: number;
  amount: number;
  type: { name: string; isCredit: boolean };
  balance: { balancePrevious: number; currentBalance: number };
  proof: Record<string, unknown> | null;
}

const post = (path: string, body: unknown) => bank.call('POST', path, { body });
const moveClock = (change: object) => post('/sandbox/clock', change);
const setModes = async (body: object) =>
  expect((await bank.call('PATCH', '/sandbox/modes', { body })).status).toBe(200);
const ledger = async () => (await bank.call('GET', '/sandbox/ledger?account=1000001')).body;
const write = async (changes: object = {}): Promise<number> => {
  const line = { amount: 1, isCredit: true, typeName: 'ANY_LINE', ...changes };
  const { status, body } = await post('/sandbox/transactions', line);
  expect(status).toBe(200);
  return body.nsu;
};
const list = async (query = ''): Promise<Line[]> =>
  (await bank.call('GET', `/baas/api/v2/transactions?${query}`)).body;
const nsus = async (query = '') => (await list(query)).map(({ nsu }) => nsu);
const addFault = (kind: FaultRequest['kind'], changes: Partial<FaultRequest> = {}) =>
  bank.application.get(Faults).add({
    endpoint: 'transactions',
    kind,
    times: 1,
    probability: null,
    seed: 1,
    delayMs: null,
    ...changes,
  });
const cents = (reais: number) => Math.round(reais * 100);

it('lists the oldest line first with statementOrder asc, page by page', async () => {
  for (let count = 0; count < 5; count += 1) await write();
  expect(await nsus()).toEqual([5, 4, 3, 2, 1]);
  await setModes({ statementOrder: 'asc' });
  expect(await nsus()).toEqual([1, 2, 3, 4, 5]);
  expect(await nsus('limit=2&page=2')).toEqual([3, 4]);
});

it('limits pages to statementPageCap, whatever the requested limit', async () => {
  for (let count = 0; count < 5; count += 1) await write();
  await setModes({ statementPageCap: 2 });
  expect(await nsus('limit=100')).toEqual([5, 4]);
  expect(await nsus('limit=100&page=3')).toEqual([1]);
});

it('returns an empty page for a page number beyond the range of a bigint offset', async () => {
  await setModes({ statementPageCap: 10_000 });
  for (const path of ['/baas/api/v2/transactions', '/baas/v1/charges']) {
    const response = await bank.call('GET', `${path}?page=999999999999999&limit=10000`);
    expect([response.status, response.body]).toEqual([200, []]);
  }
});

it('shows one line in three two seconds late, everywhere but in the ledger', async () => {
  await setModes({ nsuVisibility: 'out-of-order' });
  for (const endToEndId of ['E1', 'E2', 'E3', 'E4']) await write({ endToEndId });
  expect(await nsus()).toEqual([4, 2, 1]);
  expect(await nsus('nsu=3')).toEqual([]);
  expect(await nsus('endToEndId=E3')).toEqual([]);
  expect(await nsus('limit=2&page=2')).toEqual([1]);
  expect((await ledger()).movements).toHaveLength(4);
  await moveClock({ advance: 'PT1.999S' });
  expect(await nsus()).toEqual([4, 2, 1]);
  await moveClock({ advance: 'PT0.001S' });
  expect(await nsus()).toEqual([4, 3, 2, 1]);
  expect(await nsus('endToEndId=E3')).toEqual([3]);
});

it('hides a line for the delay of its fault', async () => {
  await write();
  addFault('line-withheld', { delayMs: 60_000 });
  await write();
  await write();
  expect(await nsus()).toEqual([3, 1]);
  await moveClock({ advance: 'PT1M' });
  expect(await nsus()).toEqual([3, 2, 1]);
});

it('chains balances in the order of commits, not of nsu, with balanceOrder commit', async () => {
  await setModes({ balanceOrder: 'commit' });
  for (const amount of [1, 2, 3, 4, 5, 6]) await write({ amount });
  const lines = await list('limit=50');
  const byNsu = [...lines].sort((a, b) => a.nsu - b.nsu);
  expect(byNsu.map(({ nsu }) => nsu)).toEqual([1, 2, 3, 4, 5, 6]);
  const follows = (chain: Line[]) =>
    chain.every(
      ({ balance }, index) =>
        index === 0 || balance.balancePrevious === chain[index - 1]!.balance.currentBalance,
    );
  expect(follows(byNsu)).toBe(false);
  expect(follows(byNsu.toSorted((a, b) => cents(a.amount) - cents(b.amount)))).toBe(true);
});

it('filters days by time when nsu and time differ in order', async () => {
  await setModes({ balanceOrder: 'commit' });
  const times = [
    ...['2027-03-04T02:59:59.999Z', '2027-03-04T03:00:00Z', '2027-03-04T03:00:00Z'],
    ...['2027-03-05T03:00:00Z', '2027-03-05T03:00:00Z'],
  ];
  const numbers: number[] = [];
  for (const now of times) {
    await moveClock({ now });
    numbers.push(await write());
  }
  expect(numbers).toEqual([2, 1, 4, 3, 6]);
  expect(await nsus('startDate=2027-03-04&endDate=2027-03-05')).toEqual([4, 1]);
  expect(await nsus('endDate=2027-03-04')).toEqual([2]);
  expect(await nsus('startDate=2027-03-05')).toEqual([6, 3]);
  expect(await nsus('startDate=2027-03-06')).toEqual([]);
  expect(await nsus('endDate=2027-03-03')).toEqual([]);
});

it('hides externalId and the id of the original, in lines and in proofs', async () => {
  await write({ externalId: 'order-7' });
  const { endToEndId } = (await post('/sandbox/pix/received', { amount: 10 })).body;
  const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
  const refund = () => bank.call('PUT', path, { body: { amount: 1 } });
  const first = (await refund()).body;
  expect((await list('nsu=1'))[0]).toMatchObject({ externalId: 'order-7' });
  expect((await list(`nsu=${first.nsu}`))[0]!.proof).toMatchObject({
    originalEndToEndId: endToEndId,
  });
  await setModes({ lineExternalId: 'absent', lineOriginalId: 'absent' });
  // Written lines do not change.
  expect((await list('nsu=1'))[0]).toHaveProperty('externalId');
  expect(await list(`nsu=${first.nsu}`)).toEqual([first]);
  await write({ externalId: 'order-8' });
  expect((await list('limit=1'))[0]).not.toHaveProperty('externalId');
  const second = (await refund()).body;
  expect(second.proof).not.toHaveProperty('originalEndToEndId');
  expect(second.proof).toHaveProperty('endToEndId');
  expect(JSON.stringify(second)).not.toContain(endToEndId);
  expect(await list(`nsu=${second.nsu}`)).toEqual([second]);
});

it('returns an earlier state once when a fault makes it lag', async () => {
  await write();
  await moveClock({ advance: 'PT10S' });
  await write();
  addFault('statement-lag', { delayMs: 10_000 });
  expect(await nsus()).toEqual([1]);
  expect(await nsus()).toEqual([2, 1]);
  addFault('statement-lag', { delayMs: 9_999 });
  await moveClock({ advance: 'PT9.999S' });
  expect(await nsus('nsu=2')).toEqual([2]);
  await write();
  addFault('statement-lag', { delayMs: 1 });
  expect(await nsus('nsu=3')).toEqual([]);
});

it('shifts its pages by a line that is posted in between', async () => {
  for (let count = 0; count < 4; count += 1) await write();
  addFault('page-shift');
  expect(await nsus('limit=2')).toEqual([4, 3]);
  // The fault fires once, on a later page than the first.
  expect(await nsus('limit=2&page=2')).toEqual([3, 2]);
  expect(await nsus('limit=2&page=2')).toEqual([3, 2]);
  expect((await list('limit=1'))[0]).toMatchObject({
    nsu: 5,
    amount: 0.01,
    type: { name: 'CREDIT_PIX', isCredit: true },
    proof: { endToEndId: expect.stringMatching(/^E/), status: 'PIX_EFFECTIVE' },
  });
});

it.each(['nsu', 'commit'])(
  'returns one line for an endToEndId, the debit and not its reversal, with balanceOrder %s',
  async (balanceOrder) => {
    await setModes({ balanceOrder });
    const endToEndId = 'E99999999202703021200abcdefghijk';
    const debit = await write({ endToEndId, isCredit: false, typeName: 'DEBIT_PIX' });
    const credit = await write({ endToEndId, typeName: 'CREDIT_PIX_REVERSAL' });
    expect(await nsus(`endToEndId=${endToEndId}`)).toEqual([debit]);
    expect(await nsus(`endToEndId=${endToEndId}&limit=50&page=2`)).toEqual([]);
    expect(await nsus(`endToEndId=${endToEndId}&isCredit=true`)).toEqual([credit]);
  },
);

it('accepts a filter by a type that a test invented once a line of the account has it', async () => {
  const query = 'type=FEE_OF_TOMORROW';
  const filter = () => bank.call('GET', `/baas/api/v2/transactions?${query}&type=CREDIT_PIX`);
  expectError(await filter(), 400, '$.type');
  await write();
  const nsu = await write({ typeName: 'FEE_OF_TOMORROW' });
  expect((await filter()).body.map((line: Line) => line.nsu)).toEqual([nsu]);
  const others = await bank.call('GET', `/baas/api/v2/transactions?${query}`, {
    apiKey: bank.otherApiKey,
  });
  expectError(others, 400, '$.type');
});

it('shows a TED with payer and beneficiary, and the ids that a test gives a line', async () => {
  await write({ typeName: 'CREDIT_TRANSFER_EXTERNAL', notes: 'TED' });
  await write({ typeName: 'DEBIT_TRANSFER_EXTERNAL', isCredit: false });
  const ids = { correlationId: 'c-1', externalId: 'x-1', endToEndId: 'E1' };
  await write(ids);
  const [line, sent, received] = await list();
  expect(line).toMatchObject({
    correlationId: 'c-1',
    externalId: 'x-1',
    proof: { endToEndId: 'E1' },
  });
  const own = expect.objectContaining({ number: '1000001' });
  expect(sent!.proof).toMatchObject({ type: 'EXTERNAL', amount: 1, payer: own });
  expect(received!.proof).toMatchObject({ description: 'TED', beneficiary: own });
  expect((await ledger()).movements[2]).toMatchObject(ids);
  const body = { amount: 1, isCredit: true, typeName: 'ANY_LINE' };
  expectError(
    await post('/sandbox/transactions', { ...body, endToEndId: '' }),
    400,
    '$.endToEndId',
  );
  expectError(
    await post('/sandbox/transactions', { ...body, counterpartyAccount: '9999999' }),
    404,
  );
});

it('subtracts held amounts from the available balance', async () => {
  const balances = async (apiKey?: string | null) =>
    bank.call('GET', '/baas/api/v1/balances', apiKey === undefined ? {} : { apiKey });
  await write({ amount: 0.5 });
  expect((await balances()).body).toEqual({
    amountAvailable: 100_000.5,
    amountBlocked: 0,
    amountTotal: 100_000.5,
  });
  await bank.pool.query(`UPDATE account SET blocked_cents = 1050 WHERE number = '1000001'`);
  expect((await balances()).body).toEqual({
    amountAvailable: 99_990,
    amountBlocked: 10.5,
    amountTotal: 100_000.5,
  });
  expect((await balances(bank.otherApiKey)).body.amountAvailable).toBe(5_000);
  expectError(await balances(null), 401);
});
