// The sandbox's rules for charges: lists, voids, expiry and the amount due by day.
import { listDeliveryBodies, registerForDeliveries } from '../support/sandbox-deliveries.js';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader, pixSlip, slip, staticQr } from './samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(async () => {
  const { body } = await bank.call('GET', '/sandbox/ledger');
  expect(body.audit).toEqual({ clean: true, problems: [] });
  await bank.stop();
});

const create = async (request: { correlationId: string }) => {
  const { status } = await bank.call('POST', '/baas/v1/charges', { body: request });
  expect(status).toBe(200);
  return `/baas/v1/charges/${request.correlationId}`;
};
const createQr = async (changes: object = {}) => {
  const request = staticQr({ ...changes });
  const headers = newKeyHeader();
  await bank.call('POST', '/baas/api/v2/pix/qrcode/static', { body: request, headers });
  return `/baas/v1/charges/${request.correlationId}`;
};
const setClock = async (now: string) => {
  const body = { now, frozen: true };
  expect((await bank.call('POST', '/sandbox/clock', { body })).status).toBe(200);
};
const post = (path: string, body: unknown = {}) => bank.call('POST', path, { body });
const statusOf = async (path: string) => (await bank.call('GET', path)).body.status;
const correlationIdOf = (path: string) => path.split('/').at(-1)!;

describe('GET /baas/v1/charges', () => {
  const list = async (query = '') => (await bank.call('GET', `/baas/v1/charges${query}`)).body;

  it('lists every charge in its current state, newest first, by page and by day', async () => {
    await setClock('2027-03-01T12:00:00Z');
    const first = await create(slip({ dueDate: '2027-03-10', ourNumber: '9' }));
    await setClock('2027-03-02T02:59:59.999Z');
    const second = await create(pixSlip({ dueDate: '2027-03-10', discount: undefined }));
    await setClock('2027-03-02T03:00:00Z');
    const third = await createQr();
    await post(`${second}/pay`);
    const ids = (charges: { correlationId: string }[]) =>
      charges.map(({ correlationId }) => correlationId);
    const all = await list();
    expect(ids(all)).toEqual([third, second, first].map(correlationIdOf));
    for (const charge of all)
      expect(charge).toEqual(
        (await bank.call('GET', `/baas/v1/charges/${charge.correlationId}`)).body,
      );
    expect(all[1]).toMatchObject({ status: 'Paid', payments: [{ amount: 150.75, source: 'SPI' }] });
    expect(all[2]).toMatchObject({
      walletNumber: 121,
      ourNumber: '9',
      beneficiary: { name: expect.any(String), document: '11222333000181', type: 'LEGAL' },
      payments: [],
      additionalInfo: expect.arrayContaining([{ key: 'OurNumber', value: '9' }]),
    });
    expect(ids(await list('?limit=1&page=2'))).toEqual([correlationIdOf(second)]);
    expect(await list('?page=1000')).toEqual([]);
    expect(ids(await list('?startDate=2027-03-02'))).toEqual([correlationIdOf(third)]);
    expect(ids(await list('?startDate=2027-03-01&endDate=2027-03-02'))).toEqual(
      [second, first].map(correlationIdOf),
    );
    const others = await bank.call('GET', '/baas/v1/charges', { apiKey: bank.otherApiKey });
    expect(others.body).toEqual([]);
  });

  it.each(['page=0', 'limit=none', 'startDate=2027-02-30', 'endDate=today'])(
    'refuses ?%s',
    async (query) => {
      const path = `$.${query.slice(0, query.indexOf('='))}`;
      expectError(await bank.call('GET', `/baas/v1/charges?${query}`), 400, path);
      expectError(await bank.call('GET', `/baas/v1/charges?${query}`, { apiKey: null }), 401);
    },
  );
});

describe('POST /baas/v1/charges/{correlationId}/void', () => {
  it('voids a slip, sends both webhook events, and gives repeats the same response', async () => {
    await registerForDeliveries(bank, 'CHARGE_VOIDED');
    await registerForDeliveries(bank, 'CHARGE_CANCELLED');
    const request = pixSlip();
    const path = await create(request);
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(`${path}/void`)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses[0]).toMatchObject({
      status: 200,
      body: { correlationId: request.correlationId, status: 'Voided', amount: 150.75 },
    });
    expect(await statusOf(path)).toBe('Voided');
    const body = expect.objectContaining({
      id: expect.any(Number),
      correlationId: request.correlationId,
      status: 'Voided',
      amount: 150.75,
      dueDate: request.dueDate,
      bankAccount: { branch: '0001', number: '1000001' },
      payers: [request.payer],
      pix: expect.objectContaining({ qrCode: expect.any(String) }),
      bankslip: expect.objectContaining({ walletNumber: 112, yourNumber: request.yourNumber }),
    });
    expect(await listDeliveryBodies(bank)).toEqual([body, body]);
  });

  it('still credits a payment, a simulated one only once, and stays voided', async () => {
    const path = await create(slip());
    await post(`${path}/void`);
    expect((await post(`${path}/pay`)).body).toMatchObject({ status: 'Voided', amount: 150.75 });
    expectError(await post(`${path}/pay`), 409);
    expectError(await bank.call('PUT', `${path}/expire`), 409);

    const [withQr, qr] = [await create(pixSlip()), await createQr()];
    for (const voided of [withQr, qr]) {
      await post(`${voided}/void`);
      const correlationId = correlationIdOf(voided);
      const { body } = await post('/sandbox/pix/received', { correlationId });
      expect(body.correlationId).toBe(correlationId);
      const charge = (await bank.call('GET', voided)).body;
      expect(charge.status).toBe('Voided');
      expect(charge.payments).toHaveLength(1);
    }
  });

  it('refuses a paid slip and an unknown charge', async () => {
    const [paid, qr] = [await create(slip()), await createQr({ amount: undefined })];
    await post(`${paid}/pay`);
    const refused = await post(`${paid}/void`);
    expectError(refused, 409);
    expect(refused.body.code).toBe('charge_already_paid');
    await post(`${qr}/pay`);
    expect((await post(`${qr}/void`)).status).toBe(200);
    expectError(await post('/baas/v1/charges/never-issued/void'), 404);
    const apiKey = bank.otherApiKey;
    expectError(await bank.call('POST', `${qr}/void`, { apiKey }), 404);
    expectError(await bank.call('POST', `${qr}/void`, { apiKey: null }), 401);
  });

  it('leaves one consistent status when it races with the payment', async () => {
    const path = await create(slip());
    const responses = await Promise.all([post(`${path}/pay`), post(`${path}/void`)]);
    const [paid, voided] = responses.map(({ status }) => status);
    expect(paid).toBe(200);
    expect(await statusOf(path)).toBe(voided === 200 ? 'Voided' : 'Paid');
  });
});

describe('a slip becomes overdue', () => {
  // 6 March 2027 is a Saturday: Monday the 8th is the last day without fine.
  const saturday = { dueDate: '2027-03-06', discount: undefined };

  it('at the start of the day after the last day without fine, and sends one webhook', async () => {
    await registerForDeliveries(bank, 'CHARGE_OVERDUE');
    await setClock('2027-03-01T12:00:00Z');
    const [open, paid, voided] = [
      await create(slip(saturday)),
      await create(slip(saturday)),
      await create(slip(saturday)),
    ];
    await post(`${paid}/pay`);
    await post(`${voided}/void`);
    await setClock('2027-03-09T02:59:59.999Z');
    expect(await statusOf(open)).toBe('Pending');
    await setClock('2027-03-09T03:00:00Z');
    expect(await Promise.all([open, paid, voided].map(statusOf))).toEqual([
      'Expired',
      'Paid',
      'Voided',
    ]);
    const overdueWebhooks = [
      expect.objectContaining({
        eventType: 'CHARGE_OVERDUE',
        correlationId: correlationIdOf(open),
        dueDate: '2027-03-06',
        status: 'Expired',
      }),
    ];
    expect(await listDeliveryBodies(bank)).toEqual(overdueWebhooks);
    // A manual expiry moves the due date and sends no second webhook.
    const expired = await bank.call('PUT', `${open}/expire`);
    expect(expired.body).toMatchObject({ status: 'Expired', dueDate: '2027-03-08' });
    expect(await listDeliveryBodies(bank)).toEqual(overdueWebhooks);
    expect((await post(`${open}/pay`)).body.status).toBe('Paid');
  });

  it('manually before its day, with a past business day as due date, and only once', async () => {
    await registerForDeliveries(bank, 'CHARGE_OVERDUE');
    // A Monday.
    await setClock('2027-03-01T12:00:00Z');
    const path = await create(slip(saturday));
    const response = await bank.call('PUT', `${path}/expire`);
    expect(response.body).toMatchObject({ status: 'Expired', dueDate: '2027-02-26' });
    expect((await bank.call('PUT', `${path}/expire`)).text).toBe(response.text);
    await setClock('2027-03-20T12:00:00Z');
    expect(await listDeliveryBodies(bank)).toHaveLength(1);
  });
});

describe('the amount due of a slip', () => {
  const terms = (kind: 'Fixed' | 'Percentage') => ({
    Amount: 200,
    dueDate: '2027-03-06',
    discount: {
      type: kind,
      items: [
        { date: '2027-03-02', amount: 10 },
        { date: '2027-03-03', amount: 5 },
        { date: '2027-03-04', amount: 2.5 },
      ],
    },
    lateFine: { type: kind, date: '2027-03-07', amount: 2 },
    latePayment: { type: kind, date: '2027-03-07', amount: 3 },
  });

  it.each([
    ['2027-03-02', 190, 180],
    ['2027-03-03', 195, 190],
    ['2027-03-04', 197.5, 195],
    ['2027-03-05', 200, 200],
    // A slip due on a Saturday can be paid on Monday without fine.
    ['2027-03-08', 200, 200],
    // A fine, and three days of interest since the Saturday.
    ['2027-03-09', 200 + 2 + 9, 200 + 4 + 18],
    ['2027-04-05', 200 + 2 + 90, 200 + 4 + 180],
  ])('on %s is %p with fixed terms, %p with percentages', async (day, fixed, percentage) => {
    await setClock('2027-03-01T12:00:00Z');
    for (const [kind, owed] of [['Fixed', fixed] as const, ['Percentage', percentage] as const]) {
      const bySimulation = await create(pixSlip(terms(kind)));
      const byPix = await create(pixSlip(terms(kind)));
      // The last minute of the day in São Paulo.
      await setClock(new Date(Date.parse(`${day}T03:00:00Z`) + 86_340_000).toISOString());
      expect((await post(`${bySimulation}/pay`)).body.amount).toBe(owed);
      const correlationId = correlationIdOf(byPix);
      expect((await post('/sandbox/pix/received', { correlationId })).body.amount).toBe(owed);
    }
  });
});

it('compares an ourNumber of wallet 121 as eleven digits', async () => {
  const request = slip({ ourNumber: '77' });
  await create(request);
  expect((await bank.call('GET', `/baas/v1/charges/${request.correlationId}`)).body.ourNumber).toBe(
    '77',
  );
  for (const ourNumber of ['077', '00000000077'])
    for (const Amount of [150.75, 1]) {
      const refused = await post('/baas/v1/charges', slip({ ourNumber, Amount }));
      expectError(refused, 409);
      expect(refused.body.code).toBe('our_number_reused');
    }
  await create(slip({ ourNumber: '770' }));
});

it('reports the status of a charge by its current name after the mode changes the names', async () => {
  const [paid, voided] = [await create(slip()), await create(slip())];
  await post(`${paid}/pay`);
  await post(`${voided}/void`);
  await bank.call('PATCH', '/sandbox/modes', {
    body: { chargeStatus: { paid: 'Liquidado', voided: 'Baixado' } },
  });
  expect(await statusOf(paid)).toBe('Liquidado');
  expect(await statusOf(voided)).toBe('Baixado');
  expectError(await post(`${paid}/pay`), 409);
  expect((await post(`${voided}/pay`)).body.status).toBe('Baixado');
});
