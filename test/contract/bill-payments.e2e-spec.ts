// The bills are those of CONTRACT_BILL_PENDING and CONTRACT_BILL_PAID (bar codes of the bank under
// test), or else the fixtures of the sandbox. The payment test pays one of the pending bills.
import { parseBillCode } from '../../src/brazil/bill-code.js';
import { formatDigitableLine } from '../../src/brazil/bank-slip.js';
import { formatUtilityBillLine, buildUtilityBill } from '../../src/brazil/utility-bill.js';
import { bankUnderTest, type BankUnderTest, type TestResponse } from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';

interface FixtureBill {
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
  const fixtures: FixtureBill[] = CONTRACT_BASE_URL
    ? []
    : (await bank.call('GET', '/sandbox/fixtures')).body.bills;
  const listBarCodes = (status: string, barCodes: string | undefined) =>
    barCodes
      ? barCodes.split(',')
      : fixtures.filter((bill) => bill.status === status).map((bill) => bill.barCode);
  pending = listBarCodes('PENDING_PAYMENT', CONTRACT_BILL_PENDING);
  paid = listBarCodes('PAID', CONTRACT_BILL_PAID);
});
afterAll(() => bank.stop());

const query = (identifier: string) =>
  bank.call('GET', `/baas/api/v1/bill-payments/${encodeURIComponent(identifier)}`);
const pay = (
  body: unknown,
  headers: Record<string, string> = newKeyHeader(),
): Promise<TestResponse> => bank.call('POST', '/baas/api/v1/bill-payments', { body, headers });

const toDigitableLine = (barCode: string): string => {
  const parsed = parseBillCode(barCode);
  if (!parsed.ok) throw new Error('the bar code of a bill is invalid');
  return parsed.code.digitableLine;
};
const withPunctuation = (line: string) =>
  line.length === 48 ? formatUtilityBillLine(line) : formatDigitableLine(line);
const newUnknownBill = () =>
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
  it('returns a bill by its bar code and by its digitable line, with and without punctuation', async () => {
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
        digitableLine: toDigitableLine(barCode),
        isAllowPartialPayment: expect.any(Boolean),
        paymentCalculation: calculation,
        payer: { document: text, name: text, type: expect.stringMatching(/^(NATURAL|LEGAL)$/) },
        overduePaymentInterest: { amount: number, type: text },
        overduePaymentFine: { amount: number, type: text },
        discounts: expect.any(Array),
        beneficiary,
        issuer,
      });
      for (const identifier of [
        toDigitableLine(barCode),
        withPunctuation(toDigitableLine(barCode)),
      ])
        expect((await query(identifier)).body).toEqual(body);
    }
    expect(pending).not.toHaveLength(0);
  });

  it('returns a paid bill with the status PAID', async () => {
    for (const barCode of paid) expect((await query(barCode)).body.status).toBe('PAID');
    expect(paid).not.toHaveLength(0);
  });

  it.each([
    ['a wrong length', '123'],
    ['letters', 'A'.repeat(44)],
    ['a wrong check digit of a slip', '00191500954014481606906809350314337370000000100'],
    ['a wrong check digit of taxes', '836200000005667800481000180975657313001589636082'],
    ['digits of another script', '٠'.repeat(44)],
  ])('rejects %s at $.identifier', async (_, identifier) =>
    expectError(await query(identifier), 400, '$.identifier'),
  );

  it('returns 404 for a valid code that no bill has', async () => {
    const { barCode, digitableLine } = newUnknownBill();
    expectError(await query(barCode), 404);
    expectError(await query(digitableLine), 404);
  });
});

describe('POST /baas/api/v1/bill-payments', () => {
  it('rejects a payment without IdempotencyKey', async () =>
    expectError(await pay({ amount: 1, barCode: pending[0] }, {}), 400));

  it.each([
    ['no code', { barCode: undefined }, '$.barCode'],
    ['a code with wrong check digits', { barCode: '1'.repeat(44) }, '$.barCode'],
    ['no amount', { amount: undefined }, '$.amount'],
    ['an amount of zero', { amount: 0 }, '$.amount'],
    ['a negative amount', { amount: -1 }, '$.amount'],
    ['an amount with three decimals', { amount: 10.005 }, '$.amount'],
    ['an amount as a string', { amount: '10' }, '$.amount'],
    ['a day that does not exist', { payAt: '2027-02-30T10:00:00Z' }, '$.payAt'],
    ['a time that is no date', { payAt: 'tomorrow' }, '$.payAt'],
  ])('rejects %s', async (_, changes, path) =>
    expectError(await pay({ amount: 1, ...unknownBarCode(), ...changes }), 400, path),
  );

  it('returns 404 for a code that no bill has', async () =>
    expectError(await pay({ amount: 1, ...unknownBarCode() }), 404));

  it('rejects the payment of a paid bill, and an amount above the maximum', async () => {
    const payAboveMaximum = async (barCode: string, excess: number) => {
      const { body } = await query(barCode);
      const { maximumPaymentAmount } = body.paymentCalculation;
      return (await pay({ amount: maximumPaymentAmount + excess, barCode })).status;
    };
    for (const barCode of paid) expect([409, 422]).toContain(await payAboveMaximum(barCode, 0));
    for (const barCode of pending)
      expect([400, 409, 422]).toContain(await payAboveMaximum(barCode, 1));
  });

  it('pays or schedules a bill once, and returns the same response to a repeat of the key', async () => {
    const barCode = pending[0]!;
    const { body: bill } = await query(barCode);
    const request = {
      amount: bill.paymentCalculation.chargedAmount,
      digitableLine: withPunctuation(toDigitableLine(barCode)),
    };
    const headers = newKeyHeader();
    const response = await pay(request, headers);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      id: expect.stringMatching(/.+/),
      identifierNumber: bill.identifierNumber,
      barCode,
      digitableLine: toDigitableLine(barCode),
      status: expect.stringMatching(/^(PAID|SCHEDULED)$/),
      dueDate: bill.dueDate,
      createdAt: expect.stringMatching(/^\d{4}-/),
      originalAmount: bill.amount,
      paidAmount: request.amount,
      paymentCalculation: calculation,
      beneficiary,
      issuer,
    });
    expect((await pay(request, headers)).body).toEqual(response.body);
    expect([409, 422]).toContain((await pay(request)).status);
  });
});

it('rejects a missing and a wrong key with 401, before it validates the request', async () => {
  const path = '/baas/api/v1/bill-payments';
  for (const apiKey of [null, 'not-a-key-of-this-bank']) {
    expectError(await bank.call('GET', `${path}/123`, { apiKey }), 401);
    expectError(await bank.call('POST', path, { apiKey, body: '{', headers: newKeyHeader() }), 401);
  }
});

const unknownBarCode = () => ({ barCode: newUnknownBill().barCode });
