// Requests with all that they may have, and the operations that no other test calls: the API
// reference has its examples of them from here.
import { randomUUID } from 'node:crypto';
import { defaultMaxBodyBytes } from '../../../src/bank-contract/route.js';
import { Addresses } from '../../../src/platform/http/http.js';
import { ClosedDays } from '../../support/closed-days.js';
import { listenHttp } from '../../support/http-listener.js';
import { insertUnreadableLine } from '../../support/unreadable-lines.js';
import { customer, dayFromToday, finalBeneficiary, pixSlip } from '../../contract/samples.js';
import {
  adminKey,
  partnerKey,
  serviceApplication,
  type ServiceApplication,
} from '../../support/service-application.js';

let service: ServiceApplication;
beforeAll(async () => {
  service = await serviceApplication({
    ...{ RATE_LIMITS_PER_KEY: 'uploads=0', RATE_LIMITS_PER_ACCOUNT: 'uploads=0' },
  });
});
afterAll(() => service.stop());

const mainAccount = async () => {
  const where = { slug: 'main' };
  return (await service.database.prisma.bankAccount.findFirstOrThrow({ where })).id;
};

const options = { apiKey: null, headers: { 'x-service-admin-key': adminKey } };
const declared = (changes: object) => ({
  ...{ externalId: 'fornecedor-2026-11', direction: 'debit', amount: 1234.56 },
  ...{ dateFrom: dayFromToday(1), category: 'fornecedores', ...changes },
});

it('declares an expected payment with each of its conditions', async () => {
  const body = declared({
    ...{ dateTo: dayFromToday(5), tolerance: 0.05, text: 'NOTA 7', costCentre: 'filial-2' },
    references: [{ kind: 'endToEndId', value: 'E88888888202611291339rq7RIiq9KWX' }],
    counterparty: { taxId: '11222333000181', name: 'Padaria São João Ltda' },
    metadata: { invoice: '7' },
  });
  const { status, body: stored } = await service.call('POST', '/v1/expected-payments', { body });
  expect([status, stored]).toMatchObject([201, { externalId: body.externalId, version: 1 }]);
  const change = { reason: 'The invoice was corrected.', amount: 1234.5 };
  const path = `/v1/expected-payments/${body.externalId}`;
  expect(await service.call('PATCH', path, { body: change })).toMatchObject({
    status: 200,
    body: { amount: 1234.5, version: 2 },
  });
});

const transfer = (externalId: string) => ({
  ...{ externalId, amount: 1200.5, key: 'maria@pessoa-dois.example' },
});
const rows: Record<string, object[]> = {
  charges: [
    pixSlip({ correlationId: 'order-1001', finalBeneficiary }),
    pixSlip({ correlationId: 'order-1002' }),
  ],
  transfers: [transfer('salary-1'), transfer('salary-2')],
  'expected-payments': [
    declared({ externalId: 'rent-2026-11' }),
    declared({ externalId: 'rent-2026-12' }),
  ],
};
const sheets: Record<string, string> = {
  charges:
    'type,correlationId,yourNumber,dueDate,Amount,payer.name,payer.document\n' +
    `BANKSLIP,order-1003,1003,${dayFromToday(10)},149.90,João da Silva,52998224725\n`,
  transfers: 'externalId,amount,key,holderDocument\nsalary-3,900,maria@pessoa-dois.example,\n',
  'expected-payments':
    'externalId,direction,amount,dateFrom\n' + `rent-2027-01,debit,1234.56,${dayFromToday(30)}\n`,
};

it.each(['charges', 'transfers', 'expected-payments'])(
  'checks and takes a file of %s in each form',
  async (kind) => {
    const files = {
      'application/x-ndjson': rows[kind]!.map((row) => JSON.stringify(row)).join('\n'),
      'text/csv': sheets[kind]!,
    };
    for (const [type, body] of Object.entries(files)) {
      const options = { body, headers: { 'content-type': type } };
      const checked = await service.call('POST', `/v1/${kind}/bulk/check`, options);
      expect([checked.status, checked.body]).toMatchObject([200, { invalid: 0 }]);
      const path = `/v1/${kind}/bulk?hash=${checked.body.hash}`;
      expect((await service.call('POST', path, options)).status).toBe(202);
    }
  },
);

it('shows the account of a key, and moves the day on which a charge is due', async () => {
  const account = await service.sandbox.call('GET', '/sandbox/account');
  expect([account.status, account.body.number]).toEqual([200, '1000001']);
  const { body: charge } = await service.sandbox.call('POST', '/baas/v1/charges', {
    body: pixSlip(),
    headers: { IdempotencyKey: randomUUID() },
  });
  const path = `/baas/v1/charges/${charge.correlationId}`;
  const body = { dueDate: dayFromToday(20) };
  const moved = await service.sandbox.call('PATCH', path, { body });
  expect([moved.status, moved.body.correlationId]).toEqual([200, charge.correlationId]);
});

it('shows an operator the controls and the beneficiaries of an account', async () => {
  const path = '/v1/accounts/main/beneficiaries';
  const added = await service.call('POST', path, {
    ...options,
    body: {
      ...{ name: 'Aluguel', account: { ispb: '88888888', branch: '0001', number: '7654321' } },
      ...{ actor: 'Maria Souza', reason: 'New contract.' },
    },
  });
  expect(added.status).toBe(201);
  expect((await service.call('GET', path, options)).body.data).toEqual([added.body]);
  const controls = await service.call('GET', '/v1/accounts/main/payment-controls', options);
  expect(controls.body.changes).toMatchObject([{ action: 'beneficiary_added' }]);
});

it('shows the certificate of a day', async () => {
  const { database, stop } = service;
  const closedDays = new ClosedDays(() => ({ database, accountId: 0, drop: stop }));
  const account = await closedDays.account('filial');
  await closedDays.arrive(account.id, [
    { nsu: 1, at: '2026-03-02T10:00:00Z', cents: 123_456 },
    { nsu: 2, at: '2026-03-02T23:00:00Z', cents: -250 },
  ]);
  await closedDays.decide(account.id);
  await closedDays.closedUntil(account.id, '2026-03-03');
  await closedDays.close(account);
  const key = await service.call('POST', '/v1/accounts/filial/keys', {
    ...options,
    body: { name: 'ERP', scopes: ['read'] },
  });
  const path = '/v1/day-closes/2026-03-02';
  const { status, body } = await service.call('GET', path, { apiKey: key.body.key });
  expect([status, body]).toMatchObject([200, { opening: 100, credits: 1234.56, debits: 2.5 }]);
});

it('reads an unreadable line again', async () => {
  const [path, id] = await insertUnreadableLine(service.database.pool, await mainAccount());
  const lines = await service.call('GET', '/v1/unreadable-lines');
  expect(lines.body.data).toMatchObject([{ id, nsu: 990_001 }]);
  expect((await service.call('GET', path + id)).status).toBe(200);
  const { status, body } = await service.call('POST', `${path}${id}/redrive`);
  expect([status, body]).toMatchObject([200, { id, resolution: 'read' }]);
});

it('refuses a body and an id that are too long, and events that are deleted', async () => {
  const long = 'x'.repeat(600);
  const body = declared({ text: 'x'.repeat(defaultMaxBodyBytes) });
  expect((await service.call('POST', '/v1/expected-payments', { body })).status).toBe(413);
  expect((await service.call('GET', `/v1/operations/${long}`)).status).toBe(414);
  expect((await service.sandbox.call('GET', `/baas/v1/charges/${long}`)).status).toBe(414);
  const accountId = await mainAccount();
  const data = { accountId, deletedPosition: 2n };
  await service.database.prisma.eventRetention.create({ data });
  expect((await service.call('GET', '/v1/events?after=1')).status).toBe(410);
});

it('begins an onboarding whose outcome is not known, because the bank does not answer', async () => {
  const cut = await listenHttp((_request, response) => void response.destroy());
  const addresses = service.application.get(Addresses);
  const known = addresses.bankWhitelabelUrl;
  addresses.bankWhitelabelUrl = cut.url;
  const { status, body } = await service.call('POST', '/v1/customers', {
    ...{ apiKey: null, body: customer() },
    headers: { 'x-service-partner-key': partnerKey, IdempotencyKey: randomUUID() },
  });
  addresses.bankWhitelabelUrl = known;
  cut.close();
  expect([status, body]).toMatchObject([202, { kind: 'create_customer', state: 'needs_operator' }]);
});
