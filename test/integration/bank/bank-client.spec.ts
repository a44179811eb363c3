// A client written like the bank's own SDK: bodies of fourteen fields with nulls, its own header
// names, a new key on each call, the current second in transferAt, a content type without a body.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axios, { type AxiosInstance } from 'axios';
import { dayFromToday } from '../../contract/samples.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

/** What a client reads of an answer: a missing field is null to it. */
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any;

const brandHeader = 'x-brand-api-key';

/** As the SDKs write requests; only its address, key and header name differ. */
class BankSdk {
  private readonly http: AxiosInstance;

  constructor(baseURL: string, header: string, key: string) {
    const headers = { [header]: key, 'x-brand-account-id': '1000001' };
    this.http = axios.create({ baseURL, headers, validateStatus: () => true });
  }

  /** Each call has a new key, which is no GUID. */
  private send(method: string, url: string, data?: unknown) {
    const headers = {
      'content-type': 'application/json',
      IdempotencyKey: `idem-${Math.random().toString(36).slice(2)}`,
    };
    return this.http.request<Answer>({ method, url, data, headers });
  }

  private transferBody(fields: object) {
    return {
      amount: 9.95,
      description: '',
      externalId: '',
      endToEndId: null,
      initiationType: null,
      beneficiary: null,
      beneficiaryAccount: null,
      type: null,
      beneficiaryId: null,
      saveFavorite: false,
      transactionId: null,
      transferAt: `${new Date().toISOString().slice(0, 19)}Z`,
      tags: [],
      splitInstructions: [],
      ...fields,
    };
  }

  async transferByKey(fields: object = {}) {
    const path = '/baas/api/v2/pix/dict/payment-initialization';
    const { data } = await this.send('POST', path, {
      key: 'maria@pessoa-dois.example',
      holderDocument: '',
    });
    const { endToEndId } = data;
    return this.transfer({ endToEndId, initiationType: 'KEY', ...fields });
  }
  transfer = (fields: object) =>
    this.send('POST', '/baas/api/v2/transfers', this.transferBody(fields));
  ted = (fields: object) =>
    this.send('POST', '/baas/api/v2/transfers/ted', this.transferBody(fields));
  batch = (items: object[]) => this.send('POST', '/baas/v1/transfers/batch', items);
  charge = (fields: object) => this.send('POST', '/baas/v1/charges', fields);
  readCharge = (id: string) => this.send('GET', `/baas/v1/charges/${id}`);
  voidCharge = (id: string) => this.send('POST', `/baas/v1/charges/${id}/void`);
  /** Without an idempotency header. */
  staticQr = (fields: object) => this.http.post<Answer>('/baas/api/v2/pix/qrcode/static', fields);
  bill = (code: string) => this.send('GET', `/baas/api/v1/bill-payments/${code}`);
  payBill = (fields: object) => this.send('POST', '/baas/api/v1/bill-payments', fields);
  statement = () => this.send('GET', '/baas/api/v2/transactions?limit=99999');
  readTransfer = (id: string) => this.send('GET', `/baas/api/v2/transfers/${id}`);
  register = (fields: object) => this.send('POST', '/baas/api/v1/webhooks', fields);
  listRegistrations = () => this.send('GET', '/baas/api/v1/webhooks');
  unregister = (id: string) => this.send('DELETE', `/baas/api/v1/webhooks/${id}`);
}

const manual = {
  number: '7654321',
  branch: '0001',
  type: 'CURRENT',
  participantIspb: '88888888',
  holder: { document: '52998224725', name: 'João da Silva', type: 'NATURAL' },
};

describe('the bank’s own client', () => {
  let service: ServiceApplication;
  let sdks: Record<'service' | 'sandbox', BankSdk>;

  beforeAll(async () => {
    service = await serviceApplication({ API_KEY_HEADERS: brandHeader });
    const bankUrl = await service.sandbox.application.getUrl();
    sdks = {
      service: new BankSdk(service.url, brandHeader, 'concilia-dev-key'),
      sandbox: new BankSdk(bankUrl, 'x-service-api-key', 'sandbox-dev-key'),
    };
    await service.sandbox.call('PATCH', '/sandbox/modes', {
      body: { billPaymentHours: { open: 0, close: 24 } },
    });
  });
  afterAll(() => service.stop());

  const newBill = async (): Promise<{ barCode: string; digitableLine: string }> => {
    const body = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80 };
    return (await service.sandbox.call('POST', '/sandbox/bills', { body })).body;
  };
  const newCharge = (fields: object = {}) => ({
    type: 'BANKSLIP',
    correlationId: randomUUID(),
    yourNumber: '',
    ourNumber: '',
    dueDate: `${dayFromToday(10)}T00:00:00.000Z`,
    amount: 150.75,
    notifyPayerOfCreation: true,
    payer: {
      name: 'João da Silva',
      document: '52998224725',
      email: '',
      address: { street: 'Avenida Paulista', publicPlace: 'Avenida Paulista', complement: '' },
    },
    ...fields,
  });

  describe.each(['service', 'sandbox'] as const)('works with the %s', (name) => {
    const sdk = () => sdks[name];

    it.each<[string, (sdk: BankSdk) => Promise<{ status: number }>]>([
      ['a transfer by key', (one) => one.transferByKey()],
      ['a transfer by account data', (one) => one.transfer({ beneficiary: manual })],
      ['a transfer between accounts', (one) => one.transfer({ beneficiaryAccount: '1000002' })],
      ['a TED', (one) => one.ted({ beneficiary: manual })],
      [
        'a batch',
        (one) =>
          one.batch([
            {
              amount: 1.1,
              beneficiaryAccountNumber: '1000002',
              externalId: '',
              tags: [],
              transferAt: null,
            },
          ]),
      ],
      ['a slip', (one) => one.charge(newCharge())],
      ['a slip with a QR code', (one) => one.charge(newCharge({ type: 'BANKSLIP_PIX' }))],
      [
        'a static QR code',
        (one) =>
          one.staticQr({
            correlationId: randomUUID(),
            amount: 25.5,
            pixKey: '',
            formatResponse: 'ONLY_PAYLOAD',
            source: 'SDK',
            ispbPss: '',
          }),
      ],
      ['the statement', (one) => one.statement()],
    ])('%s', async (_, call) => {
      expect((await call(sdk())).status).toBe(200);
    });

    it('charges: create, read and void', async () => {
      const charge = newCharge();
      const { data } = await sdk().charge(charge);
      expect(data).toMatchObject({ amount: 150.75, dueDate: dayFromToday(10) });
      expect((await sdk().readCharge(charge.correlationId)).status).toBe(200);
      expect((await sdk().voidCharge(charge.correlationId)).status).toBe(200);
    });

    it('bills: read and pay', async () => {
      const { barCode, digitableLine } = await newBill();
      expect((await sdk().bill(barCode)).data).toMatchObject({ status: 'PENDING_PAYMENT' });
      const paid = await sdk().payBill({ amount: 80, barCode: '', digitableLine, payAt: '' });
      expect([paid.status, paid.data]).toEqual([200, expect.objectContaining({ paidAmount: 80 })]);
    });

    it('transfers are read by their id', async () => {
      const { data } = await sdk().transfer({ beneficiary: manual, amount: 2.01 });
      expect((await sdk().readTransfer(data.id)).data).toMatchObject({ id: data.id, amount: 2.01 });
    });

    it('webhook registrations: create, list and delete', async () => {
      const registered = await sdk().register({
        eventType: `PIX_REFUNDED`,
        url: 'https://client.example/webhooks',
        authorizationScheme: 'bearer',
        authorization: 'secret-of-the-client',
      });
      expect([registered.status, registered.data.authorizationScheme]).toEqual([200, 'BEARER']);
      expect((await sdk().listRegistrations()).status).toBe(200);
      expect((await sdk().unregister(registered.data.id)).status).toBe(200);
    });

    it('schedules a transfer, and refuses a scheduled item and a split', async () => {
      const transferAt = new Date(Date.now() + 86_400_000).toISOString();
      const later = await sdk().transfer({ beneficiary: manual, transferAt });
      expect([later.status, later.data.status]).toEqual([200, 'SCHEDULED']);
      const item = await sdk().batch([
        { amount: 1, beneficiaryAccountNumber: '1000002', externalId: '', transferAt },
      ]);
      expect([item.status, item.data.code]).toEqual([422, 'scheduling_not_supported']);
      const split = await sdk().transfer({ beneficiary: manual, splitInstructions: [{}] });
      expect([split.status, Object.keys(split.data.errors)]).toEqual([
        400,
        ['$.splitInstructions'],
      ]);
    });
  });

  it('pays one externalId once through the service, whatever it stamps', async () => {
    const externalId = randomUUID();
    const pay = () => sdks.service.transferByKey({ externalId, amount: 9.95 });
    const [first, second] = [await pay(), await pay()];
    expect([first.status, second.status, second.data.code]).toEqual([
      ...[200, 409],
      'possible_duplicate',
    ]);
  });

  it('is 401 at the service under a header that is not set', async () => {
    const other = new BankSdk(service.url, 'x-other-api-key', 'concilia-dev-key');
    expect((await other.statement()).status).toBe(401);
  });

  it('is scheduled by its effect date in the journal', async () => {
    const at = new Date(Date.now() + 3 * 86_400_000);
    await sdks.service.transfer({
      beneficiary: manual,
      amount: 7.77,
      transferAt: at.toISOString(),
    });
    await sdks.service.transfer({ beneficiary: manual, amount: 7.78 });
    const { rows } = await service.database.pool.query(
      `SELECT amount_cents::int, effective_from FROM operation
       WHERE amount_cents IN (777, 778) ORDER BY amount_cents`,
    );
    expect(rows).toEqual([
      { amount_cents: 777, effective_from: at },
      { amount_cents: 778, effective_from: null },
    ]);
  });

  it('finds each way of writing refused where the bank’s mode says so', async () => {
    const setModes = (body: object) => service.sandbox.call('PATCH', '/sandbox/modes', { body });
    const { sandbox } = sdks;
    await setModes({
      refusedForms: ['emptyText', 'nameCase', 'valueCase', 'dateTime'],
      qrCodeKey: 'required',
    });
    const qr = { correlationId: randomUUID(), amount: 1 };
    const answers = [
      await sandbox.transfer({ beneficiary: manual }),
      await sandbox.charge(newCharge({ yourNumber: '1', ourNumber: null })),
      await sandbox.staticQr(qr),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    // The service writes the contract's form, whatever its own client writes.
    expect((await sdks.service.transfer({ beneficiary: manual, amount: 3.03 })).status).toBe(200);
    expect((await sdks.service.charge(newCharge())).status).toBe(200);
    expect((await sdks.service.staticQr(qr)).status).toBe(200);
    await setModes({ refusedForms: [], qrCodeKey: 'optional' });
  });
});
