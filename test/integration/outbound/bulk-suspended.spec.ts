// Bulk uploads: a process that is suspended while it issues a row, for longer than its lease, sends
// nothing once another process has issued that row.
import { randomUUID } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { BulkService } from '../../../src/outbound/bulk/bulk.service.js';
import { loadSettings } from '../../../src/platform/settings/config.js';
import { RowIssuer } from '../../../src/outbound/bulk/row-issuer.service.js';
import { SecretBox } from '../../../src/platform/secret-box.js';
import { sampleChargeRequest } from '../../support/payments.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const callerOf = (accountId: number) => ({ accountId, actor: randomUUID() });

describe('a bulk row', () => {
  let service: ServiceOnSandbox;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  /** A process of the service: `before` runs after a row is read and before it is issued. */
  const processOf = (before: () => Promise<void> = () => Promise.resolve()) => {
    const { application } = service;
    const issuer = application.get(RowIssuer, { strict: false });
    const pausing = {
      issue: async (...args: Parameters<RowIssuer['issue']>) => {
        await before();
        return issuer.issue(...args);
      },
    };
    return new BulkService(
      service.database,
      pausing as RowIssuer,
      application.get(SecretBox, { strict: false }),
      { enqueue: () => Promise.resolve() } as never,
      pino({ level: 'silent' }),
      loadSettings({}),
    );
  };
  const loseLease = () =>
    service.pool.query(`UPDATE lease SET leased_until = clock_timestamp() - interval '1 second'`);
  const rowsOf = async (uploadId: string) => {
    const { rows } = await service.pool.query(
      'SELECT state, operation_id FROM bulk_row WHERE upload_id = $1 ORDER BY line',
      [uploadId],
    );
    return rows;
  };
  const countAttempts = async () => {
    const { rows } = await service.pool.query<{ attempts: number }>(
      'SELECT count(*)::int AS attempts FROM operation_attempt',
    );
    return rows[0]?.attempts;
  };
  const upload = (process: BulkService, ...requests: object[]) =>
    process.upload(
      callerOf(service.accountId),
      'charges',
      { format: 'ndjson' },
      Readable.from([Buffer.from(requests.map((one) => JSON.stringify(one)).join('\n'))]),
    );

  it('is not stored when its file is too large, cut off, or unreadable at its end', async () => {
    const large = Array.from({ length: 52 }, () => Buffer.alloc(1_048_576, '\n'));
    async function* cutOff() {
      yield Buffer.from(JSON.stringify(sampleChargeRequest('cut-off-1')));
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    }
    const valid = `${JSON.stringify(sampleChargeRequest('unreadable-1'))}\n`;
    const files: [number, AsyncIterable<Uint8Array> | Buffer[]][] = [
      [413, large],
      [400, cutOff()],
      [400, [Buffer.from(valid.repeat(1_200)), Buffer.from([0xff])]],
    ];
    for (const [status, file] of files)
      await expect(
        processOf().upload(
          callerOf(service.accountId),
          'charges',
          { format: 'ndjson' },
          Readable.from(file),
        ),
      ).rejects.toMatchObject({ status });
    expect((await service.pool.query('SELECT 1 FROM bulk_upload')).rows).toEqual([]);
    expect((await service.pool.query('SELECT 1 FROM bulk_row')).rows).toEqual([]);
  });

  it('of a file of many rows is stored with its line', async () => {
    const lines = Array.from({ length: 1_203 }, (_, at) =>
      JSON.stringify(sampleChargeRequest(`many-${at}`)),
    );
    const file = () => Readable.from([Buffer.from(lines.join('\n'))]);
    const ids = await Promise.all(
      [1, 2, 3].map(() =>
        processOf().upload(callerOf(service.accountId), 'charges', { format: 'ndjson' }, file()),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    const { rows } = await service.pool.query(
      `SELECT count(*)::int AS count, max(line) AS line, min(u.rows) AS rows
       FROM bulk_row r JOIN bulk_upload u ON u.id = r.upload_id`,
    );
    expect(rows).toEqual([{ count: 1_203, line: 1_203, rows: 1_203 }]);
    await service.pool.query('DELETE FROM bulk_row; DELETE FROM bulk_upload');
  });

  it('is refused while too many files of its account are in progress', async () => {
    const bulk = processOf();
    const bodies = Array.from({ length: 8 }, () => new PassThrough());
    const waiting = bodies.map((body) =>
      bulk.upload(callerOf(service.accountId), 'charges', { format: 'ndjson' }, body),
    );
    await expect(upload(bulk, sampleChargeRequest('ninth-1'))).rejects.toMatchObject({
      status: 429,
    });
    for (const body of bodies) body.end('\n');
    for (const ended of await Promise.allSettled(waiting)) expect(ended.status).toBe('rejected');
    await expect(upload(bulk, sampleChargeRequest('ninth-1'))).resolves.toEqual(expect.any(String));
    await service.pool.query('DELETE FROM bulk_row; DELETE FROM bulk_upload');
  });

  // The bank rejects the charge, so its correlationId is free for another request.
  const rejected = (id: string) => ({
    ...sampleChargeRequest(id),
    ...{ type: 'BANKSLIP', ourNumber: 'not digits' },
  });

  it('is issued once when its process is suspended and another process issues it', async () => {
    let isSuspended = false;
    const { accountId } = service;
    const suspended = processOf(async () => {
      if (isSuspended) return;
      isSuspended = true;
      await loseLease();
      await processOf().issueNextRows({ accountId, uploadId });
    });
    const uploadId = await upload(suspended, rejected('suspended-1'));
    const attempts = (await countAttempts()) ?? 0;
    await suspended.issueNextRows({ accountId, uploadId });
    expect(isSuspended).toBe(true);
    expect(await countAttempts()).toBe(attempts + 1);
    expect(await rowsOf(uploadId)).toMatchObject([{ state: 'rejected' }]);
  });

  it('keeps the operation of a process that was killed before it finished the row', async () => {
    const { accountId } = service;
    const killed = processOf();
    const uploadId = await upload(killed, rejected('killed-1'));
    // The process loses its lease between the response of the bank and the end of the row.
    await service.pool.query(
      `CREATE FUNCTION lose_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         UPDATE lease SET leased_until = clock_timestamp() - interval '1 second';
         RETURN NEW;
       END $$;
       CREATE TRIGGER lose_lease AFTER UPDATE OF state ON operation FOR EACH ROW
         WHEN (NEW.state = 'rejected') EXECUTE FUNCTION lose_lease();`,
    );
    const attempts = (await countAttempts()) ?? 0;
    await killed.issueNextRows({ accountId, uploadId }).catch(() => undefined);
    await service.pool.query('DROP TRIGGER lose_lease ON operation');
    const [row] = await rowsOf(uploadId);
    expect(row).toEqual({ state: 'pending', operation_id: expect.any(String) });
    await processOf().issueNextRows({ accountId, uploadId });
    expect(await countAttempts()).toBe(attempts + 1);
    expect(await rowsOf(uploadId)).toEqual([{ ...row, state: 'rejected' }]);
  });
});
