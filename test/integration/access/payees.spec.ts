// Who is paid: the holder that the bank confirmed, the holder of before, and the row that was
// issued. The whole service through HTTP, in front of a sandbox bank.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { newKeyHeader } from '../../contract/samples.js';
import { keyTransfer } from '../../contract/transfer-samples.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const lookupPath = '/baas/api/v2/pix/dict/payment-initialization';
const transferPath = '/baas/api/v2/transfers';
const ana = { name: 'Ana Souza', document: '31840295732' };
const bruno = { name: 'Bruno Lima', document: '36562207002' };

describe('payees', () => {
  let service: ServiceApplication;
  let accountId: number;
  let keys = 0;

  beforeAll(async () => {
    // These tests upload more files in a second than one key may by default.
    const limits = { RATE_LIMITS_PER_KEY: 'uploads=0', RATE_LIMITS_PER_ACCOUNT: 'uploads=0' };
    service = await serviceApplication(limits);
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
  });
  afterAll(() => service.stop());

  const newPixKey = async (holder = ana) => {
    const key = `payee-${(keys += 1)}@fora.example`;
    await register(key, holder);
    return key;
  };
  const register = async (key: string, holder: object, more: object = {}) => {
    const body = { key, holder, ...more };
    const response = await service.sandbox.call('POST', '/sandbox/dict/keys', { body });
    expect(response.status).toBeLessThan(300);
  };
  const changeHolder = (key: string, holder = bruno) => register(key, holder, { replaces: true });
  /** The `Date` header, which dates look-ups, has whole seconds. */
  const advanceBank = () =>
    service.sandbox.call('POST', '/sandbox/clock', { body: { advance: 'PT5S' } });
  const lookUp = async (key: string, holderDocument?: string, headers = {}) => {
    const body = { key, ...(holderDocument ? { holderDocument } : {}) };
    const response = await service.call('POST', lookupPath, { body, headers });
    expect(response.status).toBe(200);
    return response.body.endToEndId as string;
  };
  const pay = (endToEndId: string, headers: Record<string, string> = newKeyHeader()) =>
    service.call('POST', transferPath, {
      body: keyTransfer(endToEndId, { amount: 1 + keys / 100 }),
      headers: { ...headers, 'Concilia-Allow-Duplicate': 'true' },
    });
  const sentAtBank = async () => {
    const { rows } = await service.sandbox.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM transfer`,
    );
    return rows[0]?.count ?? 0;
  };
  const operations = () => service.database.prisma.operation.count();

  /** Uploads rows of transfers and issues them; the state and code of each. */
  const upload = async (...rows: object[]) => {
    const response = await service.call('POST', '/v1/transfers/bulk', {
      body: rows.map((row) => JSON.stringify(row)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(response.status).toBe(202);
    const uploadId = response.body.id as string;
    const bulk = service.application.get(BulkService, { strict: false });
    await bulk.issueNextRows({ accountId, uploadId });
    const { body } = await service.call('GET', `/v1/bulk/${uploadId}/rows`);
    return (body.data as Record<string, string>[]).map(({ state, code, operationId }) => ({
      state,
      code,
      operationId,
    }));
  };
  const keyRow = (key: string, changes: object = {}) => ({
    ...{ externalId: randomUUID(), key, amount: 3 + keys / 100, description: 'Folha' },
    ...changes,
  });
  const rejectedAs = (code: string) => [{ state: 'rejected', code, operationId: null }];
  const accepted = [expect.objectContaining({ state: 'accepted', code: null })];

  describe('the payee check', () => {
    it('sends a transfer whose look-up had the holder’s document, however it was written', async () => {
      const key = await newPixKey();
      expect((await pay(await lookUp(key, ana.document))).status).toBe(200);
      expect((await pay(await lookUp(key, '318.402.957-32'))).status).toBe(200);
      expect((await pay(await lookUp(key))).status).toBe(200);
    });

    it('moves nothing where the bank did not confirm the document, and keeps the key free', async () => {
      const key = await newPixKey();
      const [sent, stored] = [await sentAtBank(), await operations()];
      const endToEndId = await lookUp(key, bruno.document);
      const header = newKeyHeader();
      const responses = await Promise.all([1, 2, 3].map(() => pay(endToEndId, header)));
      for (const { status, body } of responses)
        expect([status, body.code]).toEqual([422, 'payee_mismatch']);
      expect([await sentAtBank(), await operations()]).toEqual([sent, stored]);
      expect((await pay(await lookUp(key, ana.document), header)).status).toBe(200);
    });

    it('refuses a request that does not wait for the bank, too', async () => {
      const endToEndId = await lookUp(await newPixKey(), bruno.document);
      const refused = await pay(endToEndId, { ...newKeyHeader(), Prefer: 'respond-async' });
      expect([refused.status, refused.body.code]).toEqual([422, 'payee_mismatch']);
    });

    it('rejects a bulk row with a wrong document, and issues the corrected row', async () => {
      const key = await newPixKey();
      const sent = await sentAtBank();
      const row = keyRow(key, { holderDocument: bruno.document });
      expect(await upload(row)).toEqual(rejectedAs('payee_mismatch'));
      expect(await sentAtBank()).toBe(sent);
      expect(await upload({ ...row, holderDocument: ana.document })).toEqual(accepted);
      expect(await sentAtBank()).toBe(sent + 1);
    });

    it('stores neither the document nor the holder', async () => {
      await lookUp(await newPixKey(), ana.document);
      const { rows } = await service.database.pool.query(
        `SELECT pix_lookup::text AS row FROM pix_lookup`,
      );
      expect(rows.length).toBeGreaterThan(3);
      expect(JSON.stringify(rows)).not.toMatch(/31840295732|Ana|fora\.example|\*/);
    });
  });

  describe('a changed holder', () => {
    it('stops a transfer with an earlier look-up once a later one shows another holder', async () => {
      const key = await newPixKey();
      const before = await lookUp(key);
      await changeHolder(key);
      await advanceBank();
      const after = await lookUp(key.toUpperCase());
      const sent = await sentAtBank();
      const refused = await pay(before);
      expect([refused.status, refused.body.code]).toEqual([422, 'payee_changed']);
      expect(await sentAtBank()).toBe(sent);
      expect((await pay(after)).status).toBe(200);
    });

    it('stops a row of a later upload, until it has the document of the new holder', async () => {
      const key = await newPixKey();
      expect(await upload(keyRow(key))).toEqual(accepted);
      await changeHolder(key);
      await advanceBank();
      const sent = await sentAtBank();
      const row = keyRow(key);
      expect(await upload(row)).toEqual(rejectedAs('payee_changed'));
      // The look-up of the stopped row is no payment to the new holder.
      expect(await upload(row, keyRow(key))).toEqual([
        ...rejectedAs('payee_changed'),
        ...rejectedAs('payee_changed'),
      ]);
      expect(await sentAtBank()).toBe(sent);
      expect(await upload({ ...row, holderDocument: bruno.document })).toEqual(accepted);
    });

    it('stops a row that an earlier upload did not pay', async () => {
      const key = await newPixKey();
      const row = keyRow(key, { holderDocument: bruno.document });
      expect(await upload(row)).toEqual(rejectedAs('payee_mismatch'));
      await changeHolder(key, { name: 'Carla Dias', document: '52998224725' });
      await advanceBank();
      expect(await upload({ ...row, holderDocument: undefined })).toEqual(
        rejectedAs('payee_changed'),
      );
    });

    it('pays a holder who has moved the key to another account', async () => {
      const key = await newPixKey();
      expect(await upload(keyRow(key))).toEqual(accepted);
      await register(key, ana, { replaces: true, number: '998877', branch: '0009' });
      await advanceBank();
      expect(await upload(keyRow(key))).toEqual(accepted);
    });
  });

  describe('a row under the id of an issued one', () => {
    const reused = rejectedAs('idempotency_key_reused');

    it('is the same operation if it is identical', async () => {
      const row = keyRow(await newPixKey(), { holderDocument: ana.document });
      const first = await upload(row);
      const sent = await sentAtBank();
      // Another file with the same row, and the amount written in another way.
      expect(await upload(row, keyRow(await newPixKey()))).toEqual([...first, ...accepted]);
      expect(await sentAtBank()).toBe(sent + 1);
    });

    it.each<[string, (row: Record<string, unknown>) => Promise<object> | object]>([
      ['key', async (row) => ({ ...row, key: await newPixKey() })],
      ['holderDocument, removed', ({ holderDocument: _, ...row }) => row],
      ['holderDocument, changed', (row) => ({ ...row, holderDocument: bruno.document })],
      ['amount', (row) => ({ ...row, amount: 4.99 })],
      ['description', (row) => ({ ...row, description: 'Outra' })],
      ['description, removed', ({ description: _, ...row }) => row],
      [
        'account in place of the key',
        ({ externalId, amount }) => ({ externalId, amount, beneficiaryAccount: '1000002' }),
      ],
    ])('is rejected if it differs in %s', async (_, change) => {
      const row = keyRow(await newPixKey(), { holderDocument: ana.document });
      expect(await upload(row)).toEqual(accepted);
      const sent = await sentAtBank();
      expect(await upload(await change(row))).toEqual(reused);
      expect(await sentAtBank()).toBe(sent);
    });

    it('is invalid with a field that is not known', async () => {
      const row = keyRow(await newPixKey(), { holderDocument: ana.document });
      expect(await upload(row)).toEqual(accepted);
      const sent = await sentAtBank();
      expect(await upload({ ...row, note: 'x' })).toMatchObject([{ state: 'invalid' }]);
      expect(await sentAtBank()).toBe(sent);
    });

    it('is rejected if a document was added', async () => {
      const row = keyRow(await newPixKey());
      expect(await upload(row)).toEqual(accepted);
      expect(await upload({ ...row, holderDocument: ana.document })).toEqual(reused);
    });

    it('is rejected if it differs in an account, or in an externalId beside its key', async () => {
      const beneficiary = {
        ...{ number: '7654321', branch: '0001', type: 'CURRENT', participantIspb: '88888888' },
        holder: { document: '52998224725', name: 'João da Silva', type: 'NATURAL' },
      };
      const manual = { idempotencyKey: randomUUID(), externalId: 'a', amount: 7.13, beneficiary };
      expect(await upload(manual)).toEqual(accepted);
      const other = { ...beneficiary, number: '7654322' };
      expect(await upload({ ...manual, beneficiary: other })).toEqual(reused);
      expect(await upload({ ...manual, externalId: 'b' })).toEqual(reused);
      const internal = { externalId: randomUUID(), amount: 7.17, beneficiaryAccount: '1000002' };
      expect(await upload(internal)).toEqual(accepted);
      expect(await upload({ ...internal, description: 'x' })).toEqual(reused);
    });

    it('is rejected in the same file, too', async () => {
      const row = keyRow(await newPixKey());
      const outcomes = await upload(row, { ...row, amount: 8.01 });
      expect(outcomes.map(({ state }) => state).sort()).toEqual(['accepted', 'rejected']);
    });
  });
});
