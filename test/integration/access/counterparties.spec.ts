import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LineEraser } from '../../../src/reporting/day-closes/line-eraser.service.js';
import { DeliveryService } from '../../../src/events/delivery.service.js';
import { createLog } from '../../../src/platform/log.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { operatorOf } from '../../support/operator.js';
import { sampleChargeRequest } from '../../support/payments.js';
import { Receiver } from '../../support/receiver.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { storeRawLine } from '../../support/stored-line.js';
import { until } from '../../support/until.js';

interface Line {
  nsu: number;
  counterparty: Record<string, string | null>;
  notes: string | null;
}

const payer = { name: 'Zuleika Quaresma', document: '12345678909' };
const rare = /Zuleika|Quaresma|12345678909|123\.456\.789-09|recado-raro/;

describe('who paid', () => {
  let service: ServiceApplication;
  let accountId: number;
  let log = '';
  const keys = { reader: '', treasury: '', notifier: '' };
  const { createKey } = operatorOf(() => service);
  const get = (path: string, key: string) => service.call('GET', path, { apiKey: key });
  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const provider = <Provider>(type: new (...args: never[]) => Provider) =>
    service.application.get<Provider>(type, { strict: false });
  const sync = async () => {
    await provider(StatementSync).sync(accountId);
    await provider(ReconciliationService).reconcile({ accountId });
  };
  const lineOf = async (nsu: number, key = keys.treasury) =>
    ((await get(`/v1/transactions?nsu=${nsu}`, key)).body as { data: Line[] }).data[0] as Line;
  const addLine = (nsu: number, fields: object, isCredit = true) =>
    storeRawLine(service, accountId, nsu, fields, isCredit);
  const receiveWebhook = async (eventType: string, body: object) => {
    const inbox = provider(WebhookInbox);
    await inbox.store(accountId, eventType, Buffer.from(JSON.stringify(body)));
    await processWebhooks();
  };
  const processWebhooks = async () => {
    await run(
      `UPDATE statement_state SET last_sync_started_at = clock_timestamp() WHERE account_id = $1`,
      accountId,
    );
    await provider(WebhookInbox).process({ accountId });
  };
  let unexpectedNsu = 0;

  beforeAll(async () => {
    const stream = new Writable({
      write: (chunk, _, done) => {
        log += String(chunk);
        done();
      },
    });
    service = await serviceApplication({}, createLog('trace', 'concilia', stream));
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    keys.reader = (await createKey('main')).key;
    keys.treasury = (await createKey('main', { scopes: ['read', 'personal-data'] })).key;
    keys.notifier = (await createKey('main', { scopes: ['read', 'webhooks'] })).key;
    const pix = { amount: 12.34, payer };
    const { body } = await service.sandbox.call('POST', '/sandbox/pix/received', { body: pix });
    unexpectedNsu = (body as { nsu: number }).nsu;
    await sync();
  });
  afterAll(() => service.stop());

  it('is shown under the scope `personal-data`, with where it comes from', async () => {
    const { counterparty, notes } = await lineOf(unexpectedNsu);
    expect(counterparty).toMatchObject({
      ...{ name: payer.name, taxId: payer.document, source: 'line' },
      ...{ message: `Pix recebido de ${payer.name}`, account: expect.stringMatching(/\d/) },
    });
    expect(notes).toContain(payer.name);
  });

  it('is masked without it, and so are the notes', async () => {
    const { counterparty, notes } = await lineOf(unexpectedNsu, keys.reader);
    expect(counterparty).toMatchObject({
      ...{ name: 'Z*** Q***', taxId: '***.456.789-**', message: null, source: 'line' },
      account: expect.stringMatching(/^\*{3}\d{2}$/),
    });
    expect(notes).toBeNull();
  });

  const today = () => new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
  it.each([
    ['lines', () => '/v1/transactions'],
    ['breaks', () => '/v1/breaks'],
    ['events', () => '/v1/events?type=transaction.unexpected'],
    ['a CSV file', () => '/v1/exports/transactions?format=csv'],
    ['an OFX file', () => '/v1/exports/transactions?format=ofx'],
    ['a file of open breaks', () => '/v1/exports/breaks'],
  ])('is in %s for whoever may see it, and masked for others', async (_, path) => {
    const [shown, masked] = [await get(path(), keys.treasury), await get(path(), keys.reader)];
    expect([shown.status, masked.status]).toEqual([200, 200]);
    expect(shown.text).toContain(payer.name);
    expect(masked.text).toContain('Z*** Q***');
    expect(masked.text).not.toMatch(rare);
  });

  it('is in a CNAB 240 file in its history field, or hidden in it', async () => {
    const path = `/v1/exports/transactions?format=cnab240&from=${today()}&to=${today()}`;
    expect((await get(path, keys.treasury)).text).toContain('ZULEIKA QUARESMA');
    const { text } = await get(path, keys.reader);
    expect(text).toContain('Z*** Q***');
    expect(text).not.toMatch(/ZULEIKA|QUARESMA/);
  });

  it('is in a break and its candidates, and masked in the response to an action', async () => {
    const created = await service.call('POST', '/baas/v1/charges', {
      body: { ...sampleChargeRequest('who-paid-candidate', 12.34), payer },
    });
    expect(created.status).toBeLessThan(300);
    const { body } = await get(`/v1/breaks?nsu=${unexpectedNsu}`, keys.treasury);
    const [{ id } = { id: '' }] = (body as { data: { id: string }[] }).data;
    const detail = (await get(`/v1/breaks/${id}`, keys.treasury)).body as Record<string, unknown>;
    expect(detail).toMatchObject({
      counterparty: { name: payer.name, source: 'line' },
      candidates: [{ counterparty: { name: payer.name, taxId: payer.document, source: 'charge' } }],
    });
    expect((await get(`/v1/breaks/${id}`, keys.reader)).text).not.toMatch(rare);
    const noted = await service.call('POST', `/v1/breaks/${id}/actions`, {
      body: { action: 'note', reason: 'asked the payer' },
    });
    expect(noted.body).toMatchObject({ counterparty: { name: 'Z*** Q***' } });
    expect(noted.text).not.toMatch(rare);
  });

  it('is delivered to an endpoint that includes personal data, and masked to others', async () => {
    const receivers = [await Receiver.listen(), await Receiver.listen()] as const;
    const add = (url: string, includesPersonalData: boolean, apiKey?: string) =>
      service.call('POST', '/v1/webhook-endpoints', {
        body: { url, includesPersonalData },
        apiKey,
      });
    expect((await add(receivers[0].url, true, keys.notifier)).status).toBe(403);
    const endpoints = [
      await add(receivers[0].url, true),
      await add(receivers[1].url, false, keys.notifier),
    ].map(({ body }) => body as { id: string; secret: string });
    const patch = (index: number, body: object) =>
      service.call('PATCH', `/v1/webhook-endpoints/${endpoints[index]?.id}`, {
        ...{ body, apiKey: keys.notifier },
      });
    // Whoever may not see the data must not redirect it either.
    expect((await patch(0, { url: receivers[1].url })).status).toBe(403);
    expect((await patch(1, { includesPersonalData: true })).status).toBe(403);
    expect((await patch(1, { description: 'x' })).status).toBe(200);
    const pix = { amount: 5.67, payer };
    await service.sandbox.call('POST', '/sandbox/pix/received', { body: pix });
    await sync();
    for (const [index, { id, secret }] of endpoints.entries()) {
      (receivers[index] as Receiver).secret = secret;
      await provider(DeliveryService).deliverDue({ accountId, endpointId: id });
    }
    const counterparties = receivers.map(({ events }) =>
      events
        .filter(({ type }) => type === 'transaction.unexpected')
        .map(({ data, isSigned }) => [(data.counterparty as { name: string }).name, isSigned]),
    );
    expect(counterparties).toEqual([[[payer.name, true]], [['Z*** Q***', true]]]);
    const { rows } = await run(`SELECT string_agg(data, ' ') AS data FROM event`);
    expect(rows[0].data).not.toMatch(rare);
    expect((await patch(0, { includesPersonalData: false })).status).toBe(200);
    for (const { id } of endpoints) await service.call('DELETE', `/v1/webhook-endpoints/${id}`);
    for (const receiver of receivers) await receiver.close();
  });

  const party = {
    ...{ number: '765-4', branch: '0001', participant: { ispb: '00000001' } },
    holder: { name: payer.name, document: payer.document },
  };
  const endToEndId = (last: number) =>
    `E000000002026031015${String(last).padStart(2, '0')}abcdefghijk`;

  it.each([
    ['after the line', 1, true],
    ['before the line', 2, false],
  ])('is what a webhook says that is processed %s', async (_, last, isLineFirst) => {
    const nsu = 700_000 + last;
    const proof = {
      endToEndId: endToEndId(last),
      payer: { holder: { document: '***.456.789-**' } },
    };
    const steps = [
      () => addLine(nsu, { proof }),
      async () => {
        const body = { endToEndId: endToEndId(last), proof: { payer: party } };
        await receiveWebhook('PIX_RECEIVED', { ...body, description: 'recado-raro' });
        // Without a line it waits; the end of its wait is in the past.
        await run(
          `UPDATE webhook_event SET received_at = received_at - interval '2 minutes'
           WHERE state = 'pending'`,
        );
        await provider(WebhookInbox).process({ accountId });
      },
    ];
    for (const step of isLineFirst ? steps : steps.reverse()) await step();
    expect((await lineOf(nsu)).counterparty).toEqual({
      ...{ name: payer.name, taxId: payer.document, message: 'recado-raro', source: 'line' },
      ...{ ispb: '00000001', branch: '0001', account: '765-4' },
    });
  });

  it('is what the line says, where a webhook names another tax id', async () => {
    const ids = { endToEndId: endToEndId(3) };
    await addLine(700_003, {
      proof: { ...ids, payer: { holder: { document: '***.111.222-**' } } },
    });
    await receiveWebhook('PIX_RECEIVED', { ...ids, proof: { payer: party } });
    expect((await lineOf(700_003)).counterparty).toMatchObject({
      ...{ name: null, taxId: '***.111.222-**', source: 'line' },
    });
  });

  it('is the account of a looked-up Pix key, where the line names nobody', async () => {
    await run(
      `INSERT INTO pix_lookup (account_id, end_to_end_id, counterparty, looked_up_at, expires_at)
       VALUES ($1, $2, '1/1/7654', now(), now())`,
      ...[accountId, endToEndId(4)],
    );
    await addLine(700_004, { proof: { endToEndId: endToEndId(4) } }, false);
    expect((await lineOf(700_004)).counterparty).toEqual({
      ...{ name: null, taxId: null, message: null, source: 'look_up' },
      ...{ ispb: '00000001', branch: '0001', account: '7654' },
    });
  });

  it('is whom the bank names in its response to the transfer that a line shows', async () => {
    const { body: bank } = await service.sandbox.call('GET', '/sandbox/fixtures');
    // The last ones are of holders at other banks: no credit comes back to the account.
    const { dictKeys } = bank as { dictKeys: { key: string; holder: { name: string } }[] };
    const { key, holder } = dictKeys.at(-1)!;
    const lookedUp = await service.call('POST', '/baas/api/v2/pix/dict/payment-initialization', {
      body: { key },
    });
    const ids = lookedUp.body as { endToEndId: string };
    const sent = await service.call('POST', '/baas/api/v2/transfers', {
      body: { initiationType: 'KEY', endToEndId: ids.endToEndId, amount: 1 },
      headers: { IdempotencyKey: randomUUID() },
    });
    expect([sent.status, sent.text]).toEqual([200, expect.stringContaining(holder.name)]);
    await addLine(700_006, { proof: { endToEndId: ids.endToEndId } }, false);
    await provider(ReconciliationService).reconcile({ accountId });
    expect((await lineOf(700_006)).counterparty).toMatchObject({
      ...{ name: holder.name, source: 'transfer', account: expect.stringMatching(/\d/) },
    });
  });

  it('is the payer of the charge that a line without a name pays', async () => {
    const body = { ...sampleChargeRequest('who-paid-charge', 1), payer };
    await service.call('POST', '/baas/v1/charges', { body });
    await addLine(700_005, { correlationId: 'who-paid-charge' });
    await provider(ReconciliationService).reconcile({ accountId });
    expect((await lineOf(700_005)).counterparty).toMatchObject({
      ...{ name: payer.name, taxId: payer.document, source: 'charge' },
    });
  });

  it('is masked in the views of requests, and not in what the bank itself shows', async () => {
    const charge = '/v1/charges/who-paid-charge';
    const { operationId } = (await get(charge, keys.treasury)).body as { operationId: string };
    const approver = (await createKey('main', { scopes: ['read', 'approve'] })).key;
    for (const path of [`/v1/operations/${operationId}`]) {
      const [shown, masked] = [await get(path, keys.treasury), await get(path, keys.reader)];
      expect([path, shown.status, masked.status]).toEqual([path, 200, 200]);
      expect([path, shown.text]).toEqual([path, expect.stringContaining(payer.document)]);
      expect([path, masked.text]).toEqual([path, expect.stringContaining('Z*** Q***')]);
      expect(masked.text).not.toMatch(rare);
    }
    for (const path of ['/baas/api/v1/transactions', '/baas/api/v2/transactions']) {
      const [shown, passedOn] = [await get(path, keys.treasury), await get(path, keys.reader)];
      expect([path, passedOn.text]).toEqual([path, shown.text]);
    }
    for (const path of [charge, '/v1/charges']) {
      const masked = await get(path, keys.reader);
      expect([path, masked.status]).toEqual([path, 200]);
      expect(masked.text).not.toMatch(rare);
    }
    expect((await get(`/v1/operations/${operationId}`, approver)).text).toContain(payer.name);
    const [{ id } = { id: '' }] = (
      (await get('/v1/transfers', keys.reader)).body as { data: { id: string }[] }
    ).data;
    expect((await get('/v1/transfers?limit=1', keys.reader)).text).toContain(id);
    const sent = [`/v1/transfers/${id}`, `/v1/operations/${id}`];
    for (const path of sent) {
      const { text } = await get(path, keys.treasury);
      const [, holder = ''] =
        /"name":"([^"*]+)","document"|"document":"[^"]*","name":"([^"]+)"/
          .exec(text)
          ?.filter((one) => one !== undefined) ?? [];
      expect([path, holder.length > 3]).toEqual([path, true]);
      expect((await get(path, keys.reader)).text).not.toContain(holder);
    }
  });

  it('is in the file of overdue payments', async () => {
    await run(
      `UPDATE expected_payment_total SET last_payment_day = '2020-01-01' WHERE settlement = 'open'`,
    );
    const path = '/v1/exports/expected-payments';
    expect((await get(path, keys.treasury)).text).toContain(`${payer.name}`);
    const { text } = await get(path, keys.reader);
    expect(text).toContain('Z*** Q***');
    expect(text).not.toMatch(rare);
  });

  it('is in no table once the lines are erased, but in requests of the business system', async () => {
    const { rows: lines } = await run('SELECT nsu, occurred_at FROM statement_line');
    await run(
      `INSERT INTO day_close (account_id, sequence, date, revision, opening_cents, credit_cents,
         debit_cents, closing_cents, line_count, certificate, lines_root, last_arrival,
         outcome_sequence, previous_hash, hash)
       SELECT $1, row_number() OVER (), day, 1, 0, 0, 0, 0, 1, '{}', '', 1000000, 0, '', day
       FROM (SELECT DISTINCT to_char(occurred_at - interval '3 hours', 'YYYY-MM-DD') AS day
             FROM statement_line ORDER BY day) days`,
      accountId,
    );
    // The bank sends its webhooks meanwhile. An erasure leaves the bytes of those that still wait.
    await until('each webhook is processed', async () => {
      await processWebhooks();
      return (await run(`SELECT FROM webhook_event WHERE state = 'pending'`)).rowCount === 0;
    });
    const hashesBefore = await run('SELECT leaf_hash FROM line_outcome ORDER BY nsu');
    const eraser = new LineEraser(service.database);
    for (const { nsu } of lines)
      expect(await eraser.erase('main', BigInt(nsu), 'requested')).toBe('erased');
    const { rows: tables } = await run(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      // A webhook's bytes are text in hexadecimal.
      const { rows } = await run(
        name === 'webhook_event'
          ? `SELECT convert_from(body, 'UTF8') AS text FROM webhook_event WHERE body IS NOT NULL`
          : `SELECT to_jsonb(t)::text AS text FROM "${name}" t`,
      );
      if (rows.some(({ text }) => rare.test(text))) found.push(name);
    }
    // The charges' own requests and responses end with their retention.
    expect(found.sort()).toEqual(['expected_payment', 'operation']);
    const hashesAfter = await run('SELECT leaf_hash FROM line_outcome ORDER BY nsu');
    expect(hashesAfter.rows).toEqual(hashesBefore.rows);
    const { text } = await get('/v1/transactions', keys.treasury);
    expect(text).not.toMatch(rare);
    expect((await lineOf(700_005)).counterparty).toMatchObject({ name: null, source: null });
  });

  it('is in no log', () => {
    expect(log).toContain('"name":"concilia"');
    expect(log).not.toMatch(rare);
  });
});
