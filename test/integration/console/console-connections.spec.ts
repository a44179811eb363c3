// The pages of connections: the bank's webhooks, endpoints and deliveries, alerts. What is shown,
// to which role, and what each form does.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AlertEvaluator } from '../../../src/reporting/alerts/alert-evaluator.service.js';
import { linkOf } from '../../../src/reporting/alerts/alert-subject.js';
import { menu } from '../../../src/console/page.js';
import { EventsService } from '../../../src/events/events.service.js';
import { Prisma } from '../../../src/generated/service/client.js';
import { Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { Addresses } from '../../../src/platform/http/http.js';
import { spansOf } from '../../../src/webhooks/health/health.queries.js';
import { WebhookInbox } from '../../../src/webhooks/inbox/webhook-inbox.service.js';
import { signedInPerson, type Visitor } from '../../support/console-visitor.js';
import { listenHttp, type HttpListener } from '../../support/http-listener.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

let service: ServiceApplication;
let listener: HttpListener;
let accountId: number;
const people = {} as Record<PersonRole, Visitor>;
const account = '/console/accounts/main';

beforeAll(async () => {
  service = await serviceApplication();
  const operators = service.application.get(Operators, { strict: false });
  accountId = (await operators.findAccountId('main')) ?? 0;
  for (const role of ['viewer', 'analyst', 'admin'] as const) {
    people[role] = await signedInPerson(service, `${role}@example.com`, { accountId, role });
  }
  listener = await listenHttp((_, response) => void response.end());
}, 60_000);
afterAll(async () => {
  listener.close();
  await service.stop();
});

const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
const inService = <Service>(token: new (...injected: never[]) => Service): Service =>
  service.application.get(token as never, { strict: false });
const open = (path: string, role: PersonRole = 'analyst') => people[role].get(`${account}/${path}`);
const send = (path: string, fields: Record<string, string> = {}, role: PersonRole = 'analyst') =>
  people[role].submit(`${account}/${path}`, { reason: 'a reason', ...fields });
const audited = async () =>
  (
    await run(
      `SELECT action, subject, reason FROM audit_entry WHERE account_id = $1
               ORDER BY id DESC LIMIT 2`,
      accountId,
    )
  ).rows as { action: string; subject: string; reason: string | null }[];

const isSaidWrong = ({ text }: { text: string }, name: string) =>
  new RegExp(`<input name="${name}"[^>]* aria-describedby="error-${name}"`).test(text);

const hostile = '<script>alert(1)</script>\u202eX👾';

describe('the inbox of webhooks', () => {
  const receive = async (eventType: string, body: string) => {
    await inService(WebhookInbox).store(accountId, eventType, Buffer.from(body));
    const { rows } = await run(
      `SELECT event_type || '.' || body_hash AS id FROM webhook_event
       WHERE event_type = $1 ORDER BY received_at DESC LIMIT 1`,
      eventType,
    );
    return rows[0].id as string;
  };
  const stateOf = async (id: string) =>
    (await run(`SELECT state FROM webhook_event WHERE event_type || '.' || body_hash = $1`, id))
      .rows[0].state;
  beforeEach(() => run('DELETE FROM webhook_event'));

  it('lists webhooks newest first, page by page, by each filter', async () => {
    for (let n = 0; n < 60; n += 1) await receive('PIX_RECEIVED', JSON.stringify({ n }));
    await receive('CHARGE_PAID', '{"correlationId":"order-1"}');
    await receive('SOMETHING_NEW', '{"nsu":7}');
    const rowsOf = (text: string) => text.match(/<tr>/g)?.length ?? 0;
    const first = await open('webhooks', 'viewer');
    expect([first.status, rowsOf(first.text)]).toEqual([200, 26]);
    const next = /href="([^"]*cursor=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&');
    const second = await people.viewer.get(next ?? '');
    expect(rowsOf(second.text)).toBe(26);
    expect((await open('webhooks?state=quarantined')).text).toContain('SOMETHING_NEW');
    const byType = await open('webhooks?eventType=charge_paid');
    expect([rowsOf(byType.text), byType.text.includes('order-1')]).toEqual([2, true]);
    expect(rowsOf((await open('webhooks?to=2020-01-01')).text)).toBe(0);
    expect((await open('webhooks?state=none')).text).toContain('Filters left out');
    expect((await open('webhooks?cursor=x')).status).toBe(400);
  });

  it('shows the body by role, whatever it holds', async () => {
    const body = { nsu: 7, payer: { name: `Maria ${hostile}`, document: '12345678909' } };
    const id = await receive('PIX_RECEIVED', JSON.stringify(body));
    const full = await open(`webhooks/${id}`);
    expect(full.status).toBe(200);
    expect(full.text).toContain('12345678909');
    expect(full.text).toContain('&lt;script');
    expect(full.text).toContain('\\u202e');
    expect(full.text).not.toContain('<script>alert');
    const masked = await open(`webhooks/${id}`, 'viewer');
    expect(masked.text).not.toMatch(/12345678909|Maria &lt;/);
    const unreadable = await receive('PIX_RECEIVED', `no json ${hostile} of Maria`);
    expect((await open(`webhooks/${unreadable}`)).text).toContain('of Maria');
    expect((await open(`webhooks/${unreadable}`, 'viewer')).text).not.toContain('Maria');
    await run(`UPDATE webhook_event SET state = 'processed', processed_at = now(), body = NULL`);
    expect((await open(`webhooks/${id}`)).text).toContain('deleted by its age');
    for (const none of ['x', `PIX_RECEIVED.${'0'.repeat(64)}`])
      expect((await open(`webhooks/${none}`)).status).toBe(404);
  });

  it('releases a quarantined webhook, discards it, and releases it again', async () => {
    const id = await receive('SOMETHING_NEW', '{"nsu":7}');
    expect((await open(`webhooks/${id}`)).text).toContain('the event type is unknown');
    expect((await send(`webhooks/${id}/discard`)).location).toContain('count=1');
    expect(await stateOf(id)).toBe('discarded');
    expect((await send(`webhooks/${id}/discard`)).location).toContain('count=0');
    expect((await send(`webhooks/${id}/process`)).status).toBe(303);
    expect(await stateOf(id)).toBe('pending');
    expect((await audited())[0]).toEqual({
      ...{ action: 'process webhook again', subject: `webhook ${id}`, reason: 'a reason' },
    });
    const notice = await receive('MED_REQUESTED', 'unreadable');
    expect(await stateOf(notice)).toBe('quarantined');
    await send(`webhooks/${notice}/process`);
    expect(await stateOf(notice)).toBe('pending');
    for (const action of ['process', 'discard'])
      expect((await send(`webhooks/${id}/${action}`, {}, 'viewer')).status).toBe(403);
    expect((await send(`webhooks/${id}/process`, { reason: ' ' })).status).toBe(400);
  });

  it('keeps what it processed before when it is processed again', async () => {
    const id = await receive('PIX_RECEIVED', '{"nsu":7}');
    await run(`UPDATE webhook_event SET state = 'processed', processed_at = now()`);
    await send(`webhooks/${id}/process`);
    expect(await stateOf(id)).toBe('processed');
  });

  it('decides about all quarantined webhooks of a filter, after it has shown how many', async () => {
    for (const n of [1, 2, 3]) await receive('NEW_A', `{"n":${n}}`);
    const other = await receive('NEW_B', '{}');
    const good = await receive('PIX_RECEIVED', '{}');
    const preview = await open('webhooks?state=quarantined&eventType=NEW_A&decide=1');
    expect(preview.text).toContain('Discard 3');
    await send('webhooks/discard', { state: 'quarantined', eventType: 'NEW_A' });
    expect([await stateOf(other), await stateOf(good)]).toEqual(['quarantined', 'pending']);
    const { rows } = await run(`SELECT state FROM webhook_event WHERE event_type = 'NEW_A'`);
    expect(rows.map(({ state }) => state)).toEqual(['discarded', 'discarded', 'discarded']);
    const { location } = await send('webhooks/process', { state: 'processed' });
    expect(location).toContain('count=1');
    expect(await stateOf(other)).toBe('pending');
  });
});

describe('webhook health', () => {
  it('says in a sentence what is lost, by type and by day', async () => {
    expect((await open('webhook-health', 'viewer')).text).toContain('No line of the period');
    await run(
      `INSERT INTO webhook_health_state (account_id) VALUES ($1) ON CONFLICT DO NOTHING`,
      accountId,
    );
    await run(
      `INSERT INTO notification_count (account_id, is_day, starts_at, type_name, lag_ms, lines)
       SELECT $1, is_day, starts_at, 'CREDIT_PIX', lag_ms, lines
       FROM (VALUES (350, 9), (-1, 1)) counted (lag_ms, lines)
       ${spansOf(Prisma.sql`now() - interval '2 hours'`).text}`,
      accountId,
    );
    for (const days of ['1', '7', '30', 'x']) {
      const { status, text } = await open(`webhook-health?days=${days}`, 'viewer');
      expect([days, status]).toEqual([days, 200]);
      expect(text).toContain('Pix received');
      expect(text).toContain('350 ms');
    }
    await run('DELETE FROM notification_count');
  });

  it('shows the registrations at the bank without their secrets, and registers again', async () => {
    const page = 'webhook-health/registrations';
    expect((await open(page, 'viewer')).text).toContain('Not registered');
    expect((await send(page, {}, 'analyst')).status).toBe(403);
    expect((await send(page, {}, 'admin')).status).toBe(303);
    const { text } = await open(page, 'viewer');
    expect(text).not.toContain('Not registered');
    expect(text).not.toContain('x-webhook-key');
    const addresses = inService(Addresses);
    const { bankBaseUrl } = addresses;
    addresses.bankBaseUrl = 'http://127.0.0.1:1';
    const silentPages = [await open(page, 'viewer'), await send(page, {}, 'admin')];
    addresses.bankBaseUrl = bankBaseUrl;
    for (const silent of silentPages)
      expect([silent.status, silent.text.includes('The bank did not respond')]).toEqual([
        502,
        true,
      ]);
    expect((await audited()).map(({ action }) => action)).toEqual([
      ...['refused', 'register webhooks'],
    ]);
  });
});

describe('endpoints and deliveries', () => {
  beforeEach(() => run('TRUNCATE delivery, webhook_endpoint, event, event_position'));
  const create = async (fields: Record<string, string> = {}) => {
    const page = await send(
      'endpoints',
      { url: `${listener.url}/events`, isEnabled: 'on', ...fields },
      'admin',
    );
    const { rows } = await run('SELECT id FROM webhook_endpoint ORDER BY id DESC LIMIT 1');
    return { page, id: rows[0]?.id as string };
  };
  const record = (count: number, data: object = {}) =>
    service.database.transaction(async (tx) =>
      inService(EventsService).record(
        tx,
        accountId,
        Array.from({ length: count }, () => ({
          ...{ type: 'charge.paid' as const, resource: { kind: 'charge' as const, id: 'c1' } },
          data: { ...data },
        })),
      ),
    );
  const states = async () =>
    (await run('SELECT state FROM delivery ORDER BY state::text')).rows.map(({ state }) => state);

  it('shows the secret of a new endpoint once, and its whole address to some only', async () => {
    const { page, id } = await create({
      url: `${listener.url}/token-of-receiver`,
      description: hostile,
    });
    expect(page.text).toMatch(/whsec_[\w+/=]{40,}/);
    const seen = [await open('endpoints'), await open(`endpoints/${id}`), await open('audit')];
    for (const { status, text } of seen) {
      expect(status).toBe(200);
      expect(text).not.toContain('whsec_');
      expect(text).not.toContain('<script>alert');
    }
    expect(seen[0]?.text).toContain('token-of-receiver');
    for (const path of ['endpoints', `endpoints/${id}`])
      expect((await open(path, 'viewer')).text).not.toContain('token-of-receiver');
  });

  it('says on the page what is wrong with a form', async () => {
    const refused = await send('endpoints', { url: 'ftp://x' }, 'admin');
    expect([refused.status, isSaidWrong(refused, 'url')]).toEqual([400, true]);
    expect(refused.text).toContain('value="ftp://x"');
    expect((await audited()).map(({ action }) => action)).toEqual(['refused', 'create endpoint']);
  });

  it('changes, disables, enables, rotates and removes an endpoint', async () => {
    const { id } = await create();
    await record(2);
    const fields = { url: `${listener.url}/other`, eventTypes: 'charge.paid', isEnabled: 'on' };
    expect((await send(`endpoints/${id}`, fields, 'admin')).status).toBe(303);
    const row = async () =>
      (await run('SELECT url, event_types, is_enabled, deleted_at FROM webhook_endpoint')).rows[0];
    expect(await row()).toMatchObject({ url: fields.url, event_types: ['charge.paid'] });
    await send(`endpoints/${id}/disable`, {}, 'admin');
    expect((await row()).is_enabled).toBe(false);
    expect((await open('endpoints')).text).toContain('Disabled by a person');
    await send(`endpoints/${id}/enable`, {}, 'admin');
    expect((await row()).is_enabled).toBe(true);
    expect((await send(`endpoints/${id}/secret`, {}, 'admin')).text).toContain('whsec_');
    const again = await send(`endpoints/${id}/secret`, {}, 'admin');
    expect([again.status, again.text.includes('is still valid')]).toEqual([409, true]);
    expect((await send(`endpoints/${id}/secret`, { atOnce: 'on' }, 'admin')).status).toBe(200);
    expect((await send(`endpoints/${id}/remove`, {}, 'admin')).location).toContain('count=2');
    expect((await open(`endpoints/${id}`)).status).toBe(404);
    expect(await states()).toEqual(['dead', 'dead']);
    const dead = await open('deliveries?state=dead', 'viewer');
    expect(dead.text).toContain('Removed endpoint');
    expect(dead.text).not.toContain(`endpoints/${id}"`);
  });

  it('is changed by nobody but an admin', async () => {
    const { id } = await create();
    for (const path of ['', `/${id}`, `/${id}/secret`, `/${id}/disable`, `/${id}/remove`])
      expect([path, (await send(`endpoints${path}`, {}, 'analyst')).status]).toEqual([path, 403]);
    for (const path of [`endpoints/${id}/test`, `endpoints/${id}/replay`])
      expect((await send(path, {}, 'viewer')).status).toBe(403);
  });

  it('sends a test event and says how the endpoint responded', async () => {
    const { id } = await create();
    expect((await send(`endpoints/${id}/test`)).text).toContain('accepted the test');
    const soon = await send(`endpoints/${id}/test`);
    expect([soon.status, soon.text.includes('At most one test')]).toEqual([429, true]);
  });

  it('sends dead deliveries again, after it has shown how many', async () => {
    const { id } = await create();
    await record(3);
    await run(`UPDATE delivery SET state = 'dead', next_attempt_at = NULL, last_error = 'timeout'`);
    expect((await open(`endpoints/${id}?preview=1&what=dead`)).text).toContain('Send 3 again');
    expect((await open(`deliveries?state=dead`)).text).toContain('did not respond in time');
    const { location } = await send(`endpoints/${id}/replay`, { what: 'dead' });
    expect(location).toContain('count=3');
    expect(await states()).toEqual(['pending', 'pending', 'pending']);
    expect((await people.analyst.get(location ?? '')).text).toContain(
      'Deliveries scheduled again: 3',
    );
    const [entry] = await audited();
    expect(entry).toMatchObject({ action: 'replay deliveries', subject: `endpoint ${id}` });
  });

  it('sends all events since a time again, also those from before the endpoint', async () => {
    await record(4);
    await run(
      `UPDATE event
       SET created_at = '2026-01-01T00:00:00Z'::timestamptz + position * interval '1 hour'`,
    );
    const { id } = await create();
    const since = '2025-12-31T23:30';
    const preview = await open(`endpoints/${id}?preview=1&what=since&since=${since}`);
    expect(preview.text).toContain('Send 2 again');
    const after = /name="after" value="(\d+)"/.exec(preview.text)?.[1] ?? '';
    await send(`endpoints/${id}/replay`, { what: 'since', after });
    expect(await states()).toEqual(['pending', 'pending']);
    expect((await open(`endpoints/${id}?preview=1&what=since`)).text).toContain('Give the time');
  });

  it('shows a delivery with its event, and sends it again to another endpoint', async () => {
    const [first, other] = [await create(), await create({ url: 'https://erp.example/events' })];
    await record(1, { text: hostile });
    const { rows } = await run('SELECT id FROM delivery WHERE endpoint_id = $1', first.id);
    const page = await open(`deliveries/${rows[0].id}`, 'viewer');
    expect(page.text).toContain('&lt;script');
    expect(page.text).not.toContain('<script>alert');
    expect((await send(`deliveries/${rows[0].id}/replay`, {}, 'viewer')).status).toBe(403);
    await run(`UPDATE delivery SET state = 'delivered', next_attempt_at = NULL`);
    const { location } = await send(`deliveries/${rows[0].id}/replay`, { endpointId: other.id });
    expect((await people.analyst.get(location ?? '')).text).toContain('erp.example');
    expect(await states()).toEqual(['delivered', 'pending']);
    expect((await open(`deliveries/${accountId}`)).status).toBe(404);
  });

  it('refreshes what waits at an endpoint by itself', async () => {
    const { id } = await create();
    await record(2);
    const part = await people.viewer.get(`${account}/endpoints/${id}`, { 'hx-request': 'true' });
    expect(part.text).toMatch(/^<div id="backlog" hx-get=/);
    await run(`UPDATE delivery SET state = 'delivered', next_attempt_at = NULL`);
    const ended = await people.viewer.get(`${account}/endpoints/${id}`, { 'hx-request': 'true' });
    expect(ended.text).toMatch(/^<div id="backlog" role/);
  });
});

describe('alerts', () => {
  const ruleOf = async () =>
    (await run('SELECT * FROM alert_rule WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 1'))
      .rows[0];
  const channelOf = async () =>
    (await run('SELECT * FROM alert_channel WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 1'))
      .rows[0];
  const createRule = async (fields: Record<string, string>) => {
    const created = await send(
      `alert-rules/new/${fields.kind}`,
      { isEnabled: 'on', ...fields },
      'admin',
    );
    expect(created.status).toBe(303);
    return (await ruleOf()).id as string;
  };
  const openBreak = async (subject: string) =>
    (
      await run(
        `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence)
         VALUES ($1, gen_random_uuid(), 'missing', 'open', $2, 123456, '{}') RETURNING id`,
        accountId,
        subject,
      )
    ).rows[0].id as string;
  const alertsOf = async (ruleId: string) =>
    (await run('SELECT id, state, subject, detail FROM alert WHERE rule_id = $1', ruleId)).rows;

  it('of a rule are shown, acknowledged with a reason, and cleared', async () => {
    const name = `Regra ${hostile}`;
    const ruleId = await createRule({ kind: 'break_open', name, minAmount: '1.234,56' });
    expect((await ruleOf()).condition).toContain('1234.56');
    const breakId = await openBreak('one');
    await openBreak('two');
    await inService(AlertEvaluator).evaluate();
    const list = await open(`alerts?state=firing&ruleId=${ruleId}`, 'viewer');
    expect(list.text).toContain(`${account}/breaks/${breakId}`);
    expect(list.text.replaceAll('\u00a0', ' ')).toContain('R$ 1.234,56');
    expect(list.text).not.toContain('<script>alert');
    const [first] = await alertsOf(ruleId);
    const path = `alerts/${first.id}`;
    expect((await open(path, 'viewer')).text).not.toContain('Acknowledge');
    expect((await send(`${path}/acknowledge`, {}, 'viewer')).status).toBe(403);
    expect((await send(`${path}/acknowledge`, { reason: 'known' })).status).toBe(303);
    const again = await send(`${path}/acknowledge`);
    expect([again.status, again.text.includes('acknowledged or cleared')]).toEqual([409, true]);
    expect((await open(path)).text).toContain('analyst@example.com: known');
    const all = await send(`alert-rules/${ruleId}/acknowledge`);
    expect(all.location).toContain('count=1');
    expect((await alertsOf(ruleId)).map(({ state }) => state)).toEqual([
      ...['acknowledged', 'acknowledged'],
    ]);
    expect((await send(`alert-rules/${ruleId}/remove`, {}, 'admin')).location).toContain('count=2');
  });

  it('link to a page that a viewer can open', async () => {
    const linked = [
      { lost: 3, expected: 9, hours: 1 },
      { endpointId: '01900000-0000-7000-8000-000000000000', deliveries: 3 },
      { lastSyncAt: null },
      { day: '2026-11-23' },
      { operationId: '01900000-0000-7000-8000-000000000000' },
    ].map((detail) => linkOf(detail, account));
    const breakLink = linkOf({ breakId: await openBreak('linked'), breakKind: 'missing' }, account);
    const declared = menu.map(({ path }) => path.replace(':account', 'main'));
    const listOf = (link: string) => link.replace(/\?.*|\/[^/]*$/, '');
    const shown = [...linked, breakLink].filter(
      (link) => declared.includes(link.replace(/\?.*/, '')) || declared.includes(listOf(link)),
    );
    expect(shown.length).toBeGreaterThanOrEqual(6);
    for (const link of shown)
      expect([link, (await people.viewer.get(link)).status]).toEqual([link, 200]);
  });

  it.each([
    ['webhook_loss', { minPercent: '7', minLines: '3', hours: '2' }],
    ['deliveries_dead', { minDeliveries: '2' }],
    ['no_sync', { minutes: '20' }],
    ['day_not_certified', { by: '08:30' }],
    ['approval_waiting', { minutes: '45' }],
    ['debit_waiting', { seconds: '90' }],
    ['month_close_overdue', { days: '7' }],
    ['break_open', { kinds: 'missing', minSeverity: 'high', minAgeHours: '4' }],
  ])('have a rule of the condition %s that is changed', async (kind, fields) => {
    const form = await open(`alert-rules/new/${kind}`, 'admin');
    for (const name of Object.keys(fields)) expect(form.text).toContain(`name="${name}"`);
    const id = await createRule({ kind, name: 'Regra', ...(fields as Record<string, string>) });
    const stored = JSON.parse((await ruleOf()).condition);
    for (const [name, value] of Object.entries(fields)) expect(String(stored[name])).toBe(value);
    const page = await open(`alert-rules/${id}`, 'admin');
    for (const value of Object.values(fields)) expect(page.text).toContain(`value="${value}"`);
    const wrong = await send(`alert-rules/${id}`, { kind, name: '' }, 'admin');
    expect([wrong.status, isSaidWrong(wrong, 'name')]).toEqual([400, true]);
    expect((await send(`alert-rules/${id}`, { kind, name: 'Nova' }, 'admin')).status).toBe(303);
    expect(await ruleOf()).toMatchObject({ name: 'Nova', is_enabled: false });
    expect((await open(`alert-rules/${id}`, 'viewer')).text).not.toContain(
      '<form method="post" action="/console/accounts/main/alert-rules',
    );
    expect((await send(`alert-rules/${id}`, { kind, name: 'x' }, 'analyst')).status).toBe(403);
    await send(`alert-rules/${id}/remove`, {}, 'admin');
  });

  it('go to a channel whose address and secret are never shown again', async () => {
    const secretUrl = `${listener.url}/services/T0/token-of-slack`;
    const slack = { kind: 'slack', name: 'Tesouraria', url: secretUrl, language: 'en' };
    const { location } = await send('alert-channels', slack, 'admin');
    const { id } = await channelOf();
    expect(location).toContain(id);
    const page = await open(`alert-channels/${id}`, 'admin');
    expect(page.text).toContain(new URL(listener.url).host);
    expect(page.text).not.toContain('token-of-slack');
    const webhook = { kind: 'webhook', name: 'ERP', url: `${listener.url}/a`, language: 'pt' };
    expect((await send('alert-channels', webhook, 'admin')).text).toContain('whsec_');
    const mail = { kind: 'email', name: 'x', recipients: 'ana@example.com', language: 'pt' };
    const refused = await send('alert-channels', mail, 'admin');
    expect([refused.status, refused.text.includes('There is no mail server')]).toEqual([409, true]);
    expect((await send(`alert-channels/${id}/test`, {}, 'admin')).text).toContain(
      'accepted the test',
    );
    const changes = { kind: 'slack', name: 'Novo nome', url: '', language: 'pt' };
    expect((await send(`alert-channels/${id}`, changes, 'admin')).status).toBe(303);
    await run('UPDATE alert_channel SET tested_at = NULL');
    expect((await send(`alert-channels/${id}/test`, {}, 'admin')).text).toContain(
      'accepted the test',
    );
    for (const path of ['', `/${id}`, `/${id}/test`, `/${id}/remove`])
      expect((await send(`alert-channels${path}`, slack, 'analyst')).status).toBe(403);
    expect((await send(`alert-channels/${id}/remove`, {}, 'admin')).status).toBe(303);
    expect((await open('alert-channels', 'viewer')).text).not.toContain('Novo nome');
  });
});

it('has every page of connections in both languages', async () => {
  const pages = menu.filter(({ section }) => section === 'connections');
  expect(pages.length).toBeGreaterThanOrEqual(7);
  for (const { path } of pages)
    for (const [language, tag] of [
      ['pt', 'pt-BR'],
      ['en', 'en'],
    ]) {
      const page = await people.viewer.get(path.replace(':account', 'main'), {
        cookie: `${[...people.viewer.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}; concilia-language=${language}`,
      });
      expect([path, page.status, page.text.includes(`<html lang="${tag}">`)]).toEqual([
        path,
        200,
        true,
      ]);
    }
});
