// Files of charges: every row that can be is issued once, whatever is uploaded again or killed in between.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { chargeRequest } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

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

describe('a file of charges', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let concilia: ConciliaProcess;
  let second: ConciliaProcess;

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    const settings = { DATABASE_URL: service.url, SANDBOX_DATABASE_URL: bank.url };
    concilia = await ConciliaProcess.with(settings);
    await concilia.start();
    // A second process of the same service, at the first one's bank.
    second = await ConciliaProcess.with({
      DATABASE_URL: service.url,
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
    at = concilia,
  ) =>
    at.ask<Upload & { errors: unknown; code: string }>('POST', path, file, {
      'content-type': type,
    });
  /** The status that a body of this length is answered with, before it is sent. */
  const answerTo = (path: string, length: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'x-service-api-key': 'concilia-dev-key', 'content-length': length };
      const sent = request(`${concilia.serviceUrl}${path}`, { method: 'POST', headers });
      sent.on('response', ({ statusCode }) => {
        resolve(statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
  const read = async (id: string) => (await concilia.ask<Upload>('GET', `/v1/bulk/${id}`)).body;
  const finished = (id: string, timeoutMs?: number) =>
    until(
      'the upload is finished',
      async () => {
        const found = await read(id);
        return found.state === 'finished' && found;
      },
      timeoutMs,
    );
  const rowsOf = async (id: string, query = 'limit=500') =>
    (await concilia.ask<{ data: Row[] }>('GET', `/v1/bulk/${id}/rows?${query}`)).body.data;
  const lines = (...requests: object[]) => requests.map((one) => JSON.stringify(one)).join('\n');
  const atBank = async (prefix: string) => {
    const { rows } = await bank.pool.query<{ id: string }>(
      `SELECT correlation_id AS id FROM charge WHERE correlation_id LIKE $1`,
      [`${prefix}%`],
    );
    return rows.map(({ id }) => id);
  };

  it('is issued row by row, and tells what became of each', async () => {
    const answer = await upload(
      lines(
        chargeRequest('mixed-1'),
        { ...chargeRequest('mixed-2'), dueDate: '2026-02-30' },
        chargeRequest('mixed-3'),
        { ...chargeRequest('mixed-4'), type: 'BANKSLIP', ourNumber: 'not digits' },
      ) + '\n{"type":',
    );
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/bulk/${answer.body.id}`);
    expect(answer.body).toMatchObject({ kind: 'charges', rows: 5 });
    const { id } = answer.body;
    expect((await finished(id)).counts).toEqual({
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
    const kept = await service.pool.query('SELECT 1 FROM bulk_row WHERE request IS NOT NULL');
    expect(kept.rows).toEqual([]);
  });

  it('is one upload when the same bytes come again, at once or later', async () => {
    const file = lines(chargeRequest('same-1'), chargeRequest('same-2'));
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => upload(file)),
      ...[1, 2, 3].map(() => upload(file, undefined, undefined, second)),
    ]);
    const [id = '', ...others] = new Set(answers.map(({ body }) => body.id));
    expect(others).toEqual([]);
    await finished(id);
    expect((await upload(file)).body).toMatchObject({ id, state: 'finished' });
    expect(await atBank('same-')).toHaveLength(2);
  });

  it('sends what is new of a changed file, and refuses an id that asks for something else', async () => {
    await finished(
      (await upload(lines(chargeRequest('again-1'), chargeRequest('again-2')))).body.id,
    );
    const changed = lines(
      chargeRequest('again-1'),
      chargeRequest('again-2', 99.99),
      chargeRequest('again-3'),
    );
    const { id } = await finished((await upload(changed)).body.id);
    const rows = await rowsOf(id);
    expect(rows.map(({ state, code }) => [state, code])).toEqual([
      ['accepted', null],
      ['rejected', 'idempotency_key_reused'],
      ['accepted', null],
    ]);
    expect((await atBank('again-')).sort()).toEqual(['again-1', 'again-2', 'again-3']);
  });

  it('may be CSV', async () => {
    const file =
      '\uFEFFtype;correlationId;dueDate;Amount;payer.name;payer.document\r\n' +
      'BANKSLIP_PIX;csv-1;2030-12-31;149.90;"Silva; Maria ""Lu""";00123456797\r\n' +
      'BANKSLIP_PIX;csv-2;2030-12-31;149,90;Maria;12345678909\r\n';
    const { id } = await finished((await upload(file, 'text/csv')).body.id);
    const [first, other] = await rowsOf(id);
    expect(first).toMatchObject({ line: 2, state: 'accepted' });
    expect(other).toMatchObject({ errors: { '$.Amount': [expect.any(String)] } });
    const { body } = await concilia.ask('GET', '/v1/charges/csv-1');
    expect(body.amount).toBe(149.9);
  });

  it('is refused when it is no file, of no kind, or too long', async () => {
    expect((await upload('', 'text/csv')).status).toBe(400);
    expect((await upload('\n\n')).status).toBe(400);
    expect((await upload('{}', 'application/json')).status).toBe(415);
    expect((await upload('{}\n'.repeat(100_001))).status).toBe(400);
    const mebibyte = 1_048_576;
    expect(await answerTo('/v1/charges/bulk', 50 * mebibyte + 1)).toBe(413);
    expect(await answerTo('/baas/v1/charges', mebibyte + 1)).toBe(413);
  });

  it('is nobody else’s to see', async () => {
    const { body } = await upload(lines(chargeRequest('mine-1')));
    await finished(body.id);
    await service.pool.query('UPDATE bulk_upload SET account_id = account_id + 1 WHERE id = $1', [
      body.id,
    ]);
    expect((await concilia.ask('GET', `/v1/bulk/${body.id}`)).status).toBe(404);
    expect((await concilia.ask('GET', `/v1/bulk/${body.id}/rows`)).status).toBe(404);
  });

  it('is issued once by two processes, one of which is killed in the middle', async () => {
    const count = 80;
    const file = lines(
      ...Array.from({ length: count }, (_, at) => chargeRequest(`killed-${at}`)),
      // The same again, further down.
      ...Array.from({ length: 20 }, (_, at) => chargeRequest(`killed-${at}`)),
    );
    const other = lines(...Array.from({ length: 40 }, (_, at) => chargeRequest(`killed-${at}`)));
    const [{ body: first }, { body: overlapping }] = await Promise.all([
      upload(file),
      upload(other, undefined, undefined, second),
    ]);
    await until('some are issued', async () => (await read(first.id)).counts.accepted > 20);
    await second.kill();
    await second.start();
    expect((await finished(first.id, 60_000)).counts).toEqual({
      pending: 0,
      accepted: count + 20,
      rejected: 0,
      invalid: 0,
    });
    expect((await finished(overlapping.id, 60_000)).counts.accepted).toBe(40);
    const issued = await atBank('killed-');
    expect([issued.length, new Set(issued).size]).toEqual([count, count]);
    const operations = await service.pool.query(
      `SELECT count(*)::int AS count FROM charge WHERE correlation_id LIKE 'killed-%'`,
    );
    expect(operations.rows).toEqual([{ count }]);
  }, 60_000);

  it('sends transfers of each shape once, whatever is uploaded again', async () => {
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
    const { body } = await upload(lines(...rows), undefined, path);
    const counts = { pending: 0, accepted: 3, rejected: 1, invalid: 1 };
    expect((await finished(body.id)).counts).toEqual(counts);
    // Another file with the same rows, and a cent more in one of them.
    const again = await upload(
      lines(...rows.slice(0, 2), { ...rows[2], amount: 9 }),
      undefined,
      path,
    );
    expect((await finished(again.body.id)).counts).toMatchObject({ accepted: 2, rejected: 1 });
    const { rows: sent } = await bank.pool.query(
      `SELECT -change_cents::int AS cents FROM statement_line WHERE change_cents BETWEEN -1000 AND -1 ORDER BY 1`,
    );
    expect(sent).toEqual([101, 102, 103].map((cents) => ({ cents })));
  });
});
