// Against another bank, CONTRACT_WHITELABEL_URL and CONTRACT_PARTNER_KEY identify its onboarding
// API.
import {
  applicationInFront,
  bankUnderTest,
  createCaller,
  type BankUnderTest,
} from './bank-under-test.js';
import { customer, expectError } from './samples.js';

const { CONTRACT_BASE_URL, CONTRACT_WHITELABEL_URL, CONTRACT_PARTNER_KEY } = process.env;
// A real bank's onboarding API has a separate address. Without this address the tests are reported
// as skipped.
const describeOnboarding = CONTRACT_BASE_URL && !CONTRACT_WHITELABEL_URL ? describe.skip : describe;

let bank: BankUnderTest;
let call: BankUnderTest['call'];
const partnerKey = CONTRACT_PARTNER_KEY ?? 'sandbox-dev-partner';
beforeAll(async () => {
  bank = await bankUnderTest();
  call = CONTRACT_WHITELABEL_URL
    ? createCaller(CONTRACT_WHITELABEL_URL, '', applicationInFront)
    : bank.call;
});
afterAll(() => bank.stop());

const create = (
  body: unknown,
  { key = partnerKey as string | null, contentType = 'application/json-patch+json' } = {},
) => {
  const headers = {
    'content-type': contentType,
    ...(key === null ? {} : { 'x-service-partner-key': key }),
  };
  return call('POST', '/v1/customers', { body, headers, apiKey: null });
};

describeOnboarding('POST /v1/customers', () => {
  it('creates a customer', async () => {
    const response = await create(customer());
    expect(response.status).toBe(200);
  });

  it('accepts enum values in the spelling of the contract’s lists', async () => {
    const listed = { educationLevel: 'CompleteHigher', maritalStatus: 'StableUnion' };
    const response = await create(customer({ ...listed, gender: 'Female' }));
    expect(response.status).toBe(200);
  });

  it('rejects a missing and a wrong partner key with 401, before it validates the request', async () => {
    for (const key of [null, 'not-a-key-of-this-bank', '']) {
      const response = await create('{', { key });
      expectError(response, 401);
    }
  });

  it.each([
    ['document', '123.456.789-00'],
    ['document', undefined],
    ['name', ''],
    ['email', { value: 'no address', codeVerification: '483920' }, '$.email.value'],
    ['email', { value: 'a@b.example' }, '$.email.codeVerification'],
    ['phone', { ddd: '1', number: '987654321', codeVerification: '728194' }, '$.phone.ddd'],
    ['phone', { ddd: '11', number: '1234', codeVerification: '728194' }, '$.phone.number'],
    ['birthDate', '1990-02-30T00:00:00Z'],
    ['monthlyInvoicing', 'much'],
    ['educationLevel', 'SOME'],
    ['maritalStatus', 'SOME'],
    ['gender', 'SOME'],
    ['password', '12345'],
    ['password', '1234567'],
    ['password', '12345a'],
    ['securityPassword', '123'],
    ['securityPassword', '12345'],
  ])('rejects a %s that is %j', async (field, value, path = `$.${field}`) => {
    const response = await create(customer({ [field]: value }));
    expectError(response, 400, path);
  });

  it('rejects a body that is not JSON', async () => {
    const response = await create('{');
    expectError(response, 400);
  });
});
