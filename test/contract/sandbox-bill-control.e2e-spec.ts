// Bills created by a test: their codes, and their charged amount by day.
import { buildBankSlip, parseBankSlip } from '../../src/brazil/bank-slip.js';
import { parseUtilityBill, buildUtilityBill } from '../../src/brazil/utility-bill.js';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, slip } from './samples.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
  await bank.call('POST', '/sandbox/clock', {
    body: { now: '2027-11-18T13:00:00Z', frozen: true },
  });
});
afterAll(() => bank.stop());

const create = (changes: object = {}) =>
  bank.call('POST', '/sandbox/bills', {
    body: { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 100, ...changes },
  });
const query = (code: string) =>
  bank.call('GET', `/baas/api/v1/bill-payments/${encodeURIComponent(code)}`);

describe('POST /sandbox/bills', () => {
  it('creates a bill of each type and status, which queries and fixtures show', async () => {
    for (const type of ['BANKSLIP', 'TAXES'])
      for (const status of [
        'PAID',
        'PENDING_PAYMENT',
        'BLOCKED_PAYMENT',
        'PAYMENT_DEADLINE_EXCEEDED',
      ]) {
        const { body } = await create({ type, status, amount: 12.34 });
        const { barCode, digitableLine } = body;
        expect(body).toEqual({ barCode, digitableLine, type, status, amount: 12.34 });
        const queried = (await query(digitableLine)).body;
        expect(queried).toMatchObject({ barCode, digitableLine, type, status, amount: 12.34 });
        expect(queried.dueDate).toBe('2027-11-28T00:00:00');
        const { bills } = (await bank.call('GET', '/sandbox/fixtures')).body;
        expect(bills).toContainEqual(body);
      }
  });

  it('encodes amount and due date in the code of a slip, and the amount in that of taxes', async () => {
    const slips = await create({ amount: 1234.56, dueDate: '2028-02-29' });
    expect(parseBankSlip(slips.body.barCode, '2027-11-18')).toMatchObject({
      ok: true,
      slip: { amountCents: 123_456n, dueDate: '2028-02-29' },
    });
    const created = await Promise.all(
      Array.from({ length: 30 }, () => create({ type: 'TAXES', amount: 0.01 })),
    );
    const parsed = created.map(({ body }) => parseUtilityBill(body.digitableLine));
    const bills = parsed.map((result) => (result.ok ? result.bill : null));
    expect(bills.every((bill) => bill?.amountCents === 1n)).toBe(true);
    expect(new Set(bills.map((bill) => bill?.modulus)).size).toBe(2);
    expect(new Set(bills.map((bill) => bill?.segment)).size).toBeGreaterThan(2);
    expect(new Set(created.map(({ body }) => body.barCode)).size).toBe(30);
  });

  it.each([
    [123_45n, '2027-03-01'],
    [7n, '2024-05-17'],
  ])(
    'takes amount %s and due date %s from a code, unless they are given',
    async (cents, dueDate) => {
      const code = (freeField: string) =>
        buildBankSlip({ bankCode: '237', amountCents: cents, dueDate, freeField });
      const { barCode } = code('1'.repeat(25));
      const made = await create({ amount: undefined, barCode });
      expect([made.status, made.body.amount]).toEqual([200, Number(cents) / 100]);
      expect((await query(barCode)).body.dueDate).toBe(`${dueDate}T00:00:00`);
      const given = { digitableLine: code('2'.repeat(25)).digitableLine, dueDate: '2027-12-01' };
      await create({ amount: 5, ...given });
      expect((await query(given.digitableLine)).body).toMatchObject({
        ...{ amount: 5, dueDate: '2027-12-01T00:00:00' },
      });
    },
  );

  it('needs an amount where neither the request nor the code has one', async () => {
    const open = { bankCode: '237', amountCents: 0n, dueDate: null, freeField: '3'.repeat(25) };
    for (const barCode of [undefined, buildBankSlip(open).barCode])
      expectError(await create({ amount: undefined, barCode }), 400, '$.amount');
    const taxes = buildUtilityBill({
      ...({ segment: 'WATER', valueKind: 'REAIS', modulus: 10, value: 99n } as const),
      ...{ companyCode: '0179', freeField: '4'.repeat(25) },
    });
    const bill = { type: 'TAXES', amount: undefined, digitableLine: taxes.digitableLine };
    expect((await create(bill)).body.amount).toBe(0.99);
  });

  it('accepts a new valid code, and recognizes it as bar code and as digitable line', async () => {
    const freeField = '7'.repeat(25);
    const head = { segment: 'WATER', valueKind: 'QUANTITY', companyCode: '0001' } as const;
    for (const modulus of [10, 11] as const) {
      const codes = buildUtilityBill({ ...head, modulus, value: 5n, freeField });
      const request = { type: 'TAXES', barCode: codes.barCode, amount: 3 };
      expectError(await query(codes.digitableLine), 404);
      expect((await create(request)).body).toMatchObject({ ...codes, amount: 3 });
      // The code holds a quantity of five; the amount of the bill is the registered one.
      expect((await query(codes.digitableLine)).body.amount).toBe(3);
      expectError(await create(request), 409);
      const byLine = { ...request, barCode: undefined, digitableLine: codes.digitableLine };
      expectError(await create(byLine), 409);
    }
    const issued = await bank.call('POST', '/baas/v1/charges', { body: slip() });
    const again = await create({ barCode: issued.body.barCode });
    expectError(again, 409);
    expect(again.body.code).toBe('bill_exists');
  });

  it('creates one bill for ten concurrent requests with one code', async () => {
    const { barCode } = buildUtilityBill({
      ...{ segment: 'ENERGY', valueKind: 'REAIS', modulus: 10 },
      ...{ value: 5n, companyCode: '0001', freeField: '3'.repeat(25) },
    });
    await bank.warmUp();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => create({ type: 'TAXES', barCode })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(9);
  });

  it.each([
    [{ type: 'INVOICE' }, '$.type'],
    [{ status: 'Paid' }, '$.status'],
    [{ amount: 0 }, '$.amount'],
    [{ amount: 100_000_000_000 }, '$.amount'],
    [{ amount: 1_000_000_000, type: 'TAXES' }, '$.amount'],
    [{ dueDate: '2027-02-30' }, '$.dueDate'],
    [{ dueDate: '2050-01-01' }, '$.dueDate'],
    [{ barCode: '1'.repeat(44) }, '$.barCode'],
    [{ barCode: '00190500954014481606906809350314337370000000100' }, '$.barCode'],
    [
      { type: 'TAXES', digitableLine: '00190500954014481606906809350314337370000000100' },
      '$.digitableLine',
    ],
    [{ isAllowPartialPayment: 'yes' }, '$.isAllowPartialPayment'],
    [{ isAllowPartialPayment: true, minimumPaymentAmount: 101 }, '$.minimumPaymentAmount'],
    [{ rebateAmount: 100 }, '$.rebateAmount'],
    [{ fine: { type: 'FIXED', date: '2027-11-18', amount: 0 } }, '$.fine.amount'],
    [{ payer: { document: '1', name: 'A' } }, '$.payer.document'],
  ])('refuses %j', async (changes, path) => expectError(await create(changes), 400, path));

  it('requires an API key', async () => {
    const response = await bank.call('POST', '/sandbox/bills', { apiKey: null, body: {} });
    expectError(response, 401);
    expectError(await bank.call('GET', '/sandbox/bill-payments', { apiKey: null }), 401);
    expectError(await bank.call('GET', '/sandbox/bill-payments?account=9999999'), 404);
  });
});

describe('the charged amount of a bill', () => {
  // Calculated manually: 1000 − 50 of rebate; 2 % of fine; 3 % of interest a month, by days.
  const terms = {
    amount: 1000,
    rebateAmount: 50,
    dueDate: '2027-11-24',
    discounts: [
      { type: 'FIXED', date: '2027-11-19', amount: 100 },
      { type: 'PERCENTAGE', date: '2027-11-22', amount: 5 },
    ],
    fine: { type: 'PERCENTAGE', date: '2027-11-25', amount: 2 },
    interest: { type: 'PERCENTAGE', date: '2027-11-25', amount: 3 },
    payer: { document: '529.982.247-25', name: 'João' },
    beneficiary: { document: '12.ABC.345/01DE-35', name: 'Loja' },
  };

  it('changes with the day of the clock', async () => {
    const { barCode } = (await create(terms)).body;
    const first = (await query(barCode)).body;
    expect(first).toMatchObject({
      payer: { document: '52998224725', name: 'João', type: 'NATURAL' },
      beneficiary: { document: '12ABC34501DE35', name: 'Loja', fantasyName: 'Loja', type: 'LEGAL' },
      overduePaymentFine: { date: '2027-11-25', amount: 2, type: 'PERCENTAGE' },
      overduePaymentInterest: { date: '2027-11-25', amount: 3, type: 'PERCENTAGE' },
      discounts: [
        { date: '2027-11-19', amount: 100, type: 'FIXED' },
        { date: '2027-11-22', amount: 5, type: 'PERCENTAGE' },
      ],
    });
    const days: [
      day: string,
      parts: [discount: number, fine: number, interest: number],
      charged: number,
    ][] = [
      ['2027-11-18', [100, 0, 0], 850],
      ['2027-11-20', [50, 0, 0], 900],
      ['2027-11-23', [0, 0, 0], 950],
      ['2027-11-24', [0, 0, 0], 950],
      ['2027-11-25', [0, 20, 1], 971],
      ['2027-12-04', [0, 20, 10], 980],
    ];
    for (const [day, [discountAmount, fineAmount, interesetAmount], chargedAmount] of days) {
      const now = `${day}T15:00:00Z`;
      expect((await bank.call('POST', '/sandbox/clock', { body: { now } })).status).toBe(200);
      expect((await query(barCode)).body.paymentCalculation).toEqual({
        rebateAmount: 50,
        ...{ interesetAmount, fineAmount, discountAmount, chargedAmount },
        minimumPaymentAmount: chargedAmount,
        maximumPaymentAmount: chargedAmount,
      });
    }
  });

  it('is complete on the seeded bills', async () => {
    const { bills } = (await bank.call('GET', '/sandbox/fixtures')).body;
    const numbers = new Set<string>();
    for (const { barCode, type } of bills) {
      const { body } = await query(barCode);
      expect(body).toMatchObject({
        type,
        payer: { document: expect.stringMatching(/^\d{11,14}$/) },
        overduePaymentFine: { amount: expect.any(Number), type: expect.any(String) },
        issuer: { ispb: expect.stringMatching(/^\d{8}$/) },
      });
      numbers.add(body.identifierNumber);
    }
    expect(numbers.size).toBe(bills.length);
  });
});

// Published examples of a slip and of an energy bill. The sandbox has not registered them.
describe('an unregistered code', () => {
  it.each([
    '00190500954014481606906809350314337370000000100',
    '836200000005667800481000180975657313001589636081',
  ])('%s is 404, and 400 with any digit changed', async (line) => {
    expectError(await query(line), 404);
    let refused = 0;
    for (let at = 0; at < line.length; at += 4) {
      const digit = (Number(line[at]) + 1) % 10;
      const response = await query(line.slice(0, at) + digit + line.slice(at + 1));
      expectError(response, 400, '$.identifier');
      refused += 1;
    }
    expect(refused).toBe(12);
  });

  it.each(['%00', '%E0%A4%A', '..%2F..', '1'.repeat(101), '%20', '%D9%A0'.repeat(44)])(
    'that is malformed gets no 500: %s',
    async (path) => {
      const { status } = await bank.call('GET', `/baas/api/v1/bill-payments/${path}`);
      expect([400, 404]).toContain(status);
    },
  );
});
