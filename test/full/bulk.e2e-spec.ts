// Bulk uploads: each valid row is issued exactly once, also after repeated uploads and killed
// processes.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { sampleChargeRequest } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { withoutTriggers } from '../support/parent-rows.js';

interface Upload {
  id: string;
  state: string;
  rows: number;
  counts: Record<'pending' | 'accepted' | 'rejected' | 'invalid', number>;
}
interface Row {
  line: number;
  reference: string | null;
  state: string;
  code: string | null;
  errors: Record<string, string[]> | null;
  operationId: string | null;
  operationState: string | null;
}

describe('bulk uploads', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let concilia: ConciliaProcess;
  let second: ConciliaProcess;

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    // These tests upload more files in a second than one key may by default.
    const limits = {
      RATE_LIMITS_PER_KEY: 'uploads=0',
      RATE_LIMITS_PER_ACCOUNT: 'uploads=0',
      DATABASE_URL: service.url,
    };
    concilia = await ConciliaProcess.with({ ...limits, SANDBOX_DATABASE_URL: bank.url });
    await concilia.start();
    // A second process of the same service, which uses the sandbox bank of the first.
    second = await ConciliaProcess.with({
      ...limits,
      BANK_PROFILE: 'sandbox',
      BANK_BASE_URL: concilia.bankUrl,
      ROLES: 'api,worker,scheduler',
    });
    await second.start();
  }, 90_000);
  afterAll(async () => {
    await second.stop();
    await concilia.stop();
    await service.drop();
    await bank.drop();
  });

  const upload = async (
    file: string,
    type = 'application/x-ndjson',
    path = '/v1/charges/bulk',
    process = concilia,
  ) =>
    process.callService<Upload & { errors: unknown; code: string }>('POST', path, file, {
      'content-type': type,
    });
  /** The status of the response to the headers alone, before a body of this length is sent. */
  const statusForLength = (path: string, length: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'x-service-api-key': 'concilia-dev-key', 'content-length': length };
      const outgoing = request(`${concilia.serviceUrl}${path}`, { method: 'POST', headers });
      outgoing.on('response', ({ statusCode }) => {
        resolve(statusCode);
        outgoing.destroy();
      });
      outgoing.on('error', reject);
      outgoing.flushHeaders();
    });
  const readUpload = async (id: string) =>
    (await concilia.callService<Upload>('GET', `/v1/bulk/${id}`)).body;
  const finishedUpload = (id: string, timeoutMs?: number) => {
    expect(id).toEqual(expect.any(String));
    return until(
      'the upload is finished',
      async () => {
        const found = await readUpload(id);
        return found.state === 'finished' && found;
      },
      timeoutMs,
    );
  };
  const rowsOf = async (id: string, query = 'limit=500') =>
    (await concilia.callService<{ data: Row[] }>('GET', `/v1/bulk/${id}/rows?${query}`)).body.data;
  const ndjson = (...requests: object[]) => requests.map((body) => JSON.stringify(body)).join('\n');
  const chargesAtBank = async (prefix: string) => {
    const { rows } = await bank.pool.query<{ id: string }>(
      `SELECT correlation_id AS id FROM charge WHERE correlation_id LIKE $1`,
      [`${prefix}%`],
    );
    return rows.map(({ id }) => id);
  };

  it('issues the valid rows and reports the state of each row', async () => {
    const uploaded = await upload(
      ndjson(
        sampleChargeRequest('mixed-1'),
        { ...sampleChargeRequest('mixed-2'), dueDate: '2026-02-30' },
        sampleChargeRequest('mixed-3'),
        { ...sampleChargeRequest('mixed-4'), type: 'BANKSLIP', ourNumber: 'not digits' },
      ) + '\n{"type":',
    );
    expect(uploaded.status).toBe(202);
    expect(uploaded.headers.get('location')).toBe(`/v1/bulk/${uploaded.body.id}`);
    expect(uploaded.body).toMatchObject({ kind: 'charges', rows: 5 });
    const { id } = uploaded.body;
    expect((await finishedUpload(id)).counts).toEqual({
      pending: 0,
      accepted: 2,
      rejected: 1,
      invalid: 2,
    });
    const rows = await rowsOf(id);
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
    expect(rows[0]).toMatchObject({
      reference: 'mixed-1',
      state: 'accepted',
      operationState: 'succeeded',
      errors: null,
    });
    expect(rows[1]).toMatchObject({
      reference: 'mixed-2',
      state: 'invalid',
      errors: { '$.dueDate': [expect.any(String)] },
      operationId: null,
    });
    expect(rows[2]).toMatchObject({ reference: 'mixed-3', state: 'accepted' });
    expect(rows[3]).toMatchObject({
      reference: 'mixed-4',
      state: 'rejected',
      errors: { '$.ourNumber': [expect.any(String)] },
      operationState: 'rejected',
    });
    expect(rows[4]).toMatchObject({ reference: null, errors: { $: [expect.any(String)] } });
    expect((await rowsOf(id, 'state=invalid&limit=1')).map(({ line }) => line)).toEqual([2]);
    const stored = await service.pool.query('SELECT 1 FROM bulk_row WHERE request IS NOT NULL');
    expect(stored.rows).toEqual([]);
  });

  it('creates one upload for the same bytes, sent concurrently or later', async () => {
    const file = ndjson(sampleChargeRequest('same-1'), sampleChargeRequest('same-2'));
    const responses = await Promise.all([
      ...[1, 2, 3].map(() => upload(file)),
      ...[1, 2, 3].map(() => upload(file, undefined, undefined, second)),
    ]);
    const [id = '', ...others] = new Set(responses.map(({ body }) => body.id));
    expect(others).toEqual([]);
    await finishedUpload(id);
    expect((await upload(file)).body).toMatchObject({ id, state: 'finished' });
    expect(await chargesAtBank('same-')).toHaveLength(2);
  });

  it('issues only the new rows of a changed file, and rejects an id reused for another request', async () => {
    await finishedUpload(
      (await upload(ndjson(sampleChargeRequest('again-1'), sampleChargeRequest('again-2')))).body
        .id,
    );
    const changed = ndjson(
      sampleChargeRequest('again-1'),
      sampleChargeRequest('again-2', 99.99),
      sampleChargeRequest('again-3'),
    );
    const { id } = await finishedUpload((await upload(changed)).body.id);
    const rows = await rowsOf(id);
    expect(rows.map(({ state, code }) => [state, code])).toEqual([
      ['accepted', null],
      ['rejected', 'idempotency_key_reused'],
      ['accepted', null],
    ]);
    expect((await chargesAtBank('again-')).sort()).toEqual(['again-1', 'again-2', 'again-3']);
  });

  it('accepts CSV files', async () => {
    const file =
      '\uFEFFtype;correlationId;dueDate;Amount;payer.name;payer.document\r\n' +
      'BANKSLIP_PIX;csv-1;2030-12-31;149.90;"Silva; Maria ""Lu""";00123456797\r\n' +
      'BANKSLIP_PIX;csv-2;2030-12-31;149,90;Maria;12345678909\r\n';
    const { id } = await finishedUpload((await upload(file, 'text/csv')).body.id);
    const [first, other] = await rowsOf(id);
    expect(first).toMatchObject({ line: 2, state: 'accepted' });
    expect(other).toMatchObject({ line: 3, state: 'accepted' });
    for (const correlationId of ['csv-1', 'csv-2']) {
      const { body } = await concilia.callService('GET', `/v1/charges/${correlationId}`);
      expect(body.amount).toBe(149.9);
    }
  });

  it('rejects files that are empty, of another content type, or too large', async () => {
    expect((await upload('', 'text/csv')).status).toBe(400);
    expect((await upload('\n\n')).status).toBe(400);
    expect((await upload('{}', 'application/json')).status).toBe(415);
    expect((await upload('{}\n'.repeat(100_001))).status).toBe(400);
    const mebibyte = 1_048_576;
    expect(await statusForLength('/v1/charges/bulk', 50 * mebibyte + 1)).toBe(413);
    expect(await statusForLength('/baas/v1/charges', 65_537)).toBe(413);
  });

  it('is not visible to other accounts', async () => {
    const { body } = await upload(ndjson(sampleChargeRequest('mine-1')));
    await finishedUpload(body.id);
    await withoutTriggers(service.pool, async (client) => {
      await client.query('UPDATE bulk_upload SET account_id = account_id + 1 WHERE id = $1', [
        body.id,
      ]);
    });
    expect((await concilia.callService('GET', `/v1/bulk/${body.id}`)).status).toBe(404);
    expect((await concilia.callService('GET', `/v1/bulk/${body.id}/rows`)).status).toBe(404);
  });

  it('issues each row once with two processes, one of which is killed midway', async () => {
    const count = 80;
    const file = ndjson(
      ...Array.from({ length: count }, (_, at) => sampleChargeRequest(`killed-${at}`)),
      // The first rows again, in the same file.
      ...Array.from({ length: 20 }, (_, at) => sampleChargeRequest(`killed-${at}`)),
    );
    const other = ndjson(
      ...Array.from({ length: 40 }, (_, at) => sampleChargeRequest(`killed-${at}`)),
    );
    const [{ body: first }, { body: overlapping }] = await Promise.all([
      upload(file),
      upload(other, undefined, undefined, second),
    ]);
    await until(
      'some rows are issued',
      async () => (await readUpload(first.id)).counts.accepted > 20,
    );
    await second.kill();
    await second.start();
    expect((await finishedUpload(first.id, 60_000)).counts).toEqual({
      pending: 0,
      accepted: count + 20,
      rejected: 0,
      invalid: 0,
    });
    expect((await finishedUpload(overlapping.id, 60_000)).counts.accepted).toBe(40);
    const issued = await chargesAtBank('killed-');
    expect([issued.length, new Set(issued).size]).toEqual([count, count]);
    const operations = await service.pool.query(
      `SELECT count(*)::int AS count FROM charge WHERE correlation_id LIKE 'killed-%'`,
    );
    expect(operations.rows).toEqual([{ count }]);
  }, 120_000);

  it('sends transfers of each shape once, also when rows are uploaded again', async () => {
    const beneficiary = {
      ...{ number: '7654321', branch: '0001', type: 'CURRENT', participantIspb: '88888888' },
      holder: { document: '52998224725', name: 'João da Silva', type: 'NATURAL' },
    };
    const rows = [
      { externalId: 'salary-1', amount: 1.01, key: 'maria@pessoa-dois.example' },
      { externalId: 'salary-2', amount: 1.02, beneficiaryAccount: '1000002' },
      { externalId: 'salary-3', amount: 1.03, beneficiary },
      { externalId: 'salary-4', amount: 1.04, key: 'nobody@nowhere.example' },
      { amount: 1.05, beneficiaryAccount: '1000002' },
    ];
    const path = '/v1/transfers/bulk';
    const { body } = await upload(ndjson(...rows), undefined, path);
    const counts = { pending: 0, accepted: 3, rejected: 1, invalid: 1 };
    expect((await finishedUpload(body.id)).counts).toEqual(counts);
    // Another file with the same rows, one of them with another amount.
    const again = await upload(
      ndjson(...rows.slice(0, 2), { ...rows[2], amount: 9 }),
      undefined,
      path,
    );
    expect((await finishedUpload(again.body.id)).counts).toMatchObject({
      accepted: 2,
      rejected: 1,
    });
    const { rows: sent } = await bank.pool.query(
      `SELECT -change_cents::int AS cents FROM statement_line
       WHERE change_cents BETWEEN -1000 AND -1 ORDER BY 1`,
    );
    expect(sent).toEqual([101, 102, 103].map((cents) => ({ cents })));
  });
});
