// Against another bank, CONTRACT_WHITELABEL_URL and CONTRACT_PARTNER_KEY name its onboarding API.
import { bankUnderTest, caller, type BankUnderTest } from './bank-under-test.js';
import { customer, expectError } from './samples.js';

const { CONTRACT_BASE_URL, CONTRACT_WHITELABEL_URL, CONTRACT_PARTNER_KEY } = process.env;
// A real bank's onboarding stands at an address of its own; without one it is not asked, and that is told.
const describeOnboarding = CONTRACT_BASE_URL && !CONTRACT_WHITELABEL_URL ? describe.skip : describe;

let bank: BankUnderTest;
let call: BankUnderTest['call'];
const partnerKey = CONTRACT_PARTNER_KEY ?? 'sandbox-dev-partner';
beforeAll(async () => {
  bank = await bankUnderTest();
  call = CONTRACT_WHITELABEL_URL ? caller(CONTRACT_WHITELABEL_URL, '') : bank.call;
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
  it('takes in a customer', async () => {
    const answer = await create(customer());
    expect(answer.status).toBe(200);
  });

  it('takes enums as the contract lists them and as its usage writes them', async () => {
    const listed = { educationLevel: 'CompleteHigher', maritalStatus: 'StableUnion' };
    const answer = await create(customer({ ...listed, gender: 'Female' }));
    expect(answer.status).toBe(200);
  });

  it('answers 401 to no partner key and to a wrong one, before anything else is judged', async () => {
    for (const key of [null, 'not-a-key-of-this-bank', '']) {
      const answer = await create('{', { key });
      expectError(answer, 401);
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
  ])('refuses a %s that is %j', async (field, value, path = `$.${field}`) => {
    const answer = await create(customer({ [field]: value }));
    expectError(answer, 400, path);
  });

  it('refuses a body that is no JSON', async () => {
    const answer = await create('{');
    expectError(answer, 400);
  });
});
