// The bills come from CONTRACT_BILL_PENDING and CONTRACT_BILL_PAID (bar codes that the bank under test knows), else
// from the fixtures of a sandbox; what pays takes one of the pending bills away.
import { parseBillCode } from '../../src/brazil/bill-code.js';
import { formatDigitableLine } from '../../src/brazil/bank-slip.js';
import { formatUtilityBillLine, buildUtilityBill } from '../../src/brazil/utility-bill.js';
import { bankUnderTest, type Answer, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKey } from './samples.js';

interface ListedBill {
  barCode: string;
  status: string;
  type: string;
}

let bank: BankUnderTest;
let pending: string[];
let paid: string[];
beforeAll(async () => {
  bank = await bankUnderTest();
  const { CONTRACT_BILL_PENDING, CONTRACT_BILL_PAID, CONTRACT_BASE_URL } = process.env;
  const listed: ListedBill[] = CONTRACT_BASE_URL
    ? []
    : (await bank.call('GET', '/sandbox/fixtures')).body.bills;
  const ofStatus = (status: string, named: string | undefined) =>
    named
      ? named.split(',')
      : listed.filter((bill) => bill.status === status).map((bill) => bill.barCode);
  pending = ofStatus('PENDING_PAYMENT', CONTRACT_BILL_PENDING);
  paid = ofStatus('PAID', CONTRACT_BILL_PAID);
});
afterAll(() => bank.stop());

const query = (identifier: string) =>
  bank.call('GET', `/baas/api/v1/bill-payments/${encodeURIComponent(identifier)}`);
const pay = (body: unknown, headers: Record<string, string> = newKey()): Promise<Answer> =>
  bank.call('POST', '/baas/api/v1/bill-payments', { body, headers });

const lineOf = (barCode: string): string => {
  const parsed = parseBillCode(barCode);
  if (!parsed.ok) throw new Error('a bill has a code that holds');
  return parsed.code.digitableLine;
};
const printed = (line: string) =>
  line.length === 48 ? formatUtilityBillLine(line) : formatDigitableLine(line);
const unknownBill = () =>
  buildUtilityBill({
    segment: 'WATER',
    valueKind: 'REAIS',
    modulus: 11,
    value: 12_345n,
    companyCode: '0001',
    freeField: String(Math.random()).slice(2, 17).padStart(25, '7'),
  });

const number = expect.any(Number) as number;
const text = expect.any(String) as string;
const calculation = {
  rebateAmount: number,
  interesetAmount: number,
  fineAmount: number,
  discountAmount: number,
  chargedAmount: number,
  minimumPaymentAmount: number,
  maximumPaymentAmount: number,
};
const beneficiary = { document: text, name: text, fantasyName: text, type: text };
const issuer = { ispb: text, name: text, nameFantasy: text };

describe('GET /baas/api/v1/bill-payments/{identifier}', () => {
  it('tells a bill by its bar code, its digitable line and the line as it is printed', async () => {
    for (const barCode of pending) {
      const { status, body } = await query(barCode);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        identifierNumber: expect.stringMatching(/.+/),
        type: barCode.startsWith('8') ? 'TAXES' : 'BANKSLIP',
        status: 'PENDING_PAYMENT',
        amount: number,
        dueDate: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?$/),
        barCode,
        digitableLine: lineOf(barCode),
        isAllowPartialPayment: expect.any(Boolean),
        paymentCalculation: calculation,
        payer: { document: text, name: text, type: expect.stringMatching(/^(NATURAL|LEGAL)$/) },
        overduePaymentInterest: { amount: number, type: text },
        overduePaymentFine: { amount: number, type: text },
        discounts: expect.any(Array),
        beneficiary,
        issuer,
      });
      for (const identifier of [lineOf(barCode), printed(lineOf(barCode))])
        expect((await query(identifier)).body).toEqual(body);
    }
    expect(pending).not.toHaveLength(0);
  });

  it('tells a bill that is paid as PAID', async () => {
    for (const barCode of paid) expect((await query(barCode)).body.status).toBe('PAID');
    expect(paid).not.toHaveLength(0);
  });

  it.each([
    ['a wrong length', '123'],
    ['letters', 'A'.repeat(44)],
    ['a wrong check digit of a slip', '00191500954014481606906809350314337370000000100'],
    ['a wrong check digit of taxes', '836200000005667800481000180975657313001589636082'],
    ['digits of another script', '٠'.repeat(44)],
  ])('refuses %s on $.identifier', async (_, identifier) =>
    expectError(await query(identifier), 400, '$.identifier'),
  );

  it('answers 404 to a code that holds and that no bill has', async () => {
    const { barCode, digitableLine } = unknownBill();
    expectError(await query(barCode), 404);
    expectError(await query(digitableLine), 404);
  });
});

describe('POST /baas/api/v1/bill-payments', () => {
  it('refuses a payment without its header', async () =>
    expectError(await pay({ amount: 1, barCode: pending[0] }, {}), 400));

  it.each([
    ['no code', { barCode: undefined }, '$.barCode'],
    ['a code that does not hold', { barCode: '1'.repeat(44) }, '$.barCode'],
    ['no amount', { amount: undefined }, '$.amount'],
    ['nothing to pay', { amount: 0 }, '$.amount'],
    ['an amount below zero', { amount: -1 }, '$.amount'],
    ['parts of a cent', { amount: 10.005 }, '$.amount'],
    ['an amount in words', { amount: '10' }, '$.amount'],
    ['a day that does not exist', { payAt: '2027-02-30T10:00:00Z' }, '$.payAt'],
    ['a time that is none', { payAt: 'tomorrow' }, '$.payAt'],
  ])('refuses %s', async (_, changes, path) =>
    expectError(await pay({ amount: 1, ...unknownBarCode(), ...changes }), 400, path),
  );

  it('answers 404 to a code that no bill has', async () =>
    expectError(await pay({ amount: 1, ...unknownBarCode() }), 404));

  it('refuses bills that are paid, and amounts that are not owed', async () => {
    const statusOf = async (barCode: string, more: number) => {
      const { body } = await query(barCode);
      const { maximumPaymentAmount } = body.paymentCalculation;
      return (await pay({ amount: maximumPaymentAmount + more, barCode })).status;
    };
    for (const barCode of paid) expect([409, 422]).toContain(await statusOf(barCode, 0));
    for (const barCode of pending) expect([400, 409, 422]).toContain(await statusOf(barCode, 1));
  });

  it('pays or schedules a bill once, and gives a repeat of the key its answer', async () => {
    const barCode = pending[0]!;
    const { body: bill } = await query(barCode);
    const request = {
      amount: bill.paymentCalculation.chargedAmount,
      digitableLine: printed(lineOf(barCode)),
    };
    const headers = newKey();
    const answer = await pay(request, headers);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/.+/),
      identifierNumber: bill.identifierNumber,
      barCode,
      digitableLine: lineOf(barCode),
      status: expect.stringMatching(/^(PAID|SCHEDULED)$/),
      dueDate: bill.dueDate,
      createdAt: expect.stringMatching(/^\d{4}-/),
      originalAmount: bill.amount,
      paidAmount: request.amount,
      paymentCalculation: calculation,
      beneficiary,
      issuer,
    });
    expect((await pay(request, headers)).body).toEqual(answer.body);
    expect([409, 422]).toContain((await pay(request)).status);
  });
});

it('answers 401 to a wrong key and to none, before anything else is judged', async () => {
  const path = '/baas/api/v1/bill-payments';
  for (const apiKey of [null, 'not-a-key-of-this-bank']) {
    expectError(await bank.call('GET', `${path}/123`, { apiKey }), 401);
    expectError(await bank.call('POST', path, { apiKey, body: '{', headers: newKey() }), 401);
  }
});

const unknownBarCode = () => ({ barCode: unknownBill().barCode });
