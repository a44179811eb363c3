// The channels of alerts: their addresses are guarded, stored encrypted, and neither shown nor
// logged.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { describeError, Log } from '../../../src/platform/log.js';
import { expectError } from '../../contract/samples.js';
import { alertService, type AlertService } from '../../support/alerts.js';
import { listenHttp } from '../../support/http-listener.js';
import { mailUser } from '../../support/mail-receiver.js';
import { adminKey } from '../../support/service-application.js';

const path = '/v1/alert-channels';
let service: AlertService;
beforeAll(async () => {
  service = await alertService();
});
afterAll(() => service.stop());
afterEach(() => service.reset());

const sql = (text: string, ...values: unknown[]) => service.pool.query(text, values);
const recipients = ['canary-ana@empresa.example'];
const slackUrl = () => `${service.http.url}/services/T0/B0/canary-token`;

describe('a channel', () => {
  it('is shown without its address, whose row is encrypted', async () => {
    const { secret } = await service.createChannel({
      ...{ kind: 'webhook', url: `${service.http.url}/canary-path` },
    });
    await service.createChannel({ kind: 'email', recipients });
    await service.createChannel({ kind: 'slack', url: slackUrl(), language: 'en' });
    const { body, text } = await service.call('GET', path);
    const host = new URL(service.http.url).host;
    expect(body.data).toEqual([
      expect.objectContaining({ kind: 'slack', language: 'en', target: [host] }),
      expect.objectContaining({ kind: 'email', language: 'pt', target: ['c***@empresa.example'] }),
      expect.objectContaining({ kind: 'webhook', target: [host] }),
    ]);
    const { rows } = await sql('SELECT c::text AS text FROM alert_channel c');
    for (const shown of [text, ...rows.map((row) => row.text as string)]) {
      expect(shown).not.toContain('canary');
      expect(shown).not.toContain(secret);
    }
  });

  it.each([
    ['http://10.0.0.1/', '$.url'],
    ['http://169.254.169.254/latest', '$.url'],
    ['http://127.0.0.1:22/', '$.url'],
    ['ftp://a.example/', '$.url'],
  ])('at %s is refused', async (url, field) => {
    for (const kind of ['slack', 'webhook'])
      expectError(await service.call('POST', path, { body: { kind, name: 'x', url } }), 400, field);
    const { id } = await service.createChannel({ kind: 'slack', url: slackUrl() });
    expectError(await service.call('PATCH', `${path}/${id}`, { body: { url } }), 400, field);
  });

  it.each([
    'ana@example.com, rui@example.com',
    'ana@example.com\r\nBcc: rui@example.com',
    'Ana <ana@example.com>',
    'ana@@example.com',
    'ana@-example.com',
    '"a b"@example.com',
  ])('with the recipient %j is refused', async (recipient) => {
    const body = { kind: 'email', name: 'x', recipients: [recipient] };
    expectError(await service.call('POST', path, { body }), 400, '$.recipients[0]');
  });

  it('is changed by the fields of its kind', async () => {
    const { id } = await service.createChannel({ kind: 'email', recipients });
    const change = (body: object) => service.call('PATCH', `${path}/${id}`, { body });
    expectError(await change({ url: slackUrl() }), 400, '$.url');
    const { body } = await change({ recipients: ['eva@outra.example'], language: 'en' });
    expect(body).toMatchObject({ target: ['e***@outra.example'], language: 'en' });
    const slack = await service.createChannel({ kind: 'slack', url: slackUrl() });
    const wrong = { body: { recipients } };
    expectError(await service.call('PATCH', `${path}/${slack.id}`, wrong), 400, '$.recipients');
  });

  it('is tested at once, and not again within ten seconds', async () => {
    const mail = await service.createChannel({ kind: 'email', recipients, language: 'en' });
    const slack = await service.createChannel({ kind: 'slack', url: slackUrl() });
    service.responses.push(403);
    const test = async (id: string) => service.call('POST', `${path}/${id}/test`);
    expect((await test(mail.id)).body).toMatchObject({ status: 250, error: null });
    expect((await test(slack.id)).body).toMatchObject({ status: 403, error: 'status_403' });
    expect(service.mail.mails[0]!.headers.get('subject')).toBe('[Concilia] main: test message');
    expectError(await test(mail.id), 429);
  });

  it('that is removed gets nothing more, and its pending messages are dead', async () => {
    const { id } = await service.createChannel({ kind: 'slack', url: slackUrl() });
    const condition = { kind: 'break_open' };
    const rule = await service.createRule({ condition, channelIds: [id] });
    const breakId = await service.openBreak('removed', 100);
    await service.evaluate();
    const { body } = await service.call('DELETE', `${path}/${id}`);
    expect(body).toEqual({ id, deadNotifications: 1 });
    await service.setBreak(breakId, 'resolved');
    await service.run();
    expect(service.requests).toEqual([]);
    const { body: dead } = await service.call('GET', '/v1/alert-notifications?state=dead');
    expect(dead.data[0]).toMatchObject({ channelId: id, lastError: 'channel_removed' });
    const replay = await service.call('POST', `/v1/alert-notifications/${dead.data[0].id}/replay`);
    expectError(replay, 409);
    const { body: shown } = await service.call('GET', `/v1/alert-rules/${rule.id}`);
    expect(shown.channelIds).toEqual([]);
  });

  it('is changed and read under the scopes of its routes alone', async () => {
    const keyOf = async (scopes: string[]) => {
      const body = { name: scopes.join(), scopes };
      const options = { body, apiKey: adminKey };
      return (await service.call('POST', '/v1/accounts/main/keys', options)).body.key as string;
    };
    const reader = await keyOf(['read']);
    const writer = await keyOf(['alerts']);
    const body = { kind: 'slack', name: 'x', url: slackUrl() };
    expectError(await service.call('POST', path, { body, apiKey: reader }), 403);
    expect((await service.call('POST', path, { body, apiKey: writer })).status).toBe(201);
    expect((await service.call('GET', path, { apiKey: reader })).status).toBe(200);
    expectError(await service.call('GET', path, { apiKey: writer }), 403);
  });
});

it('no failure writes an address, a recipient or a password to the log', async () => {
  const log = service.application.get<Log>(Log, { strict: false });
  const logged: string[] = [];
  const levels = ['debug', 'info', 'warn', 'error'] as const;
  const spies = levels.map((level) =>
    jest.spyOn(log, level).mockImplementation((...written: unknown[]) => {
      // As the log itself describes an error, which has the whole request.
      const { err, ...fields } = written[0] as { err?: unknown };
      logged.push(JSON.stringify([describeError(err), fields, written[1]]));
    }),
  );
  const closed = await listenHttp(() => undefined);
  closed.close();
  const channels = [
    await service.createChannel({ kind: 'email', recipients }),
    await service.createChannel({ kind: 'slack', url: slackUrl() }),
    // Nothing listens there.
    await service.createChannel({ kind: 'slack', url: `${closed.url}/canary-closed` }),
  ];
  const channelIds = channels.map(({ id }) => id);
  await service.createRule({ condition: { kind: 'break_open' }, channelIds });
  await service.openBreak('failing', 100);
  service.mail.refusals.push(550);
  service.mail.refusedRecipients = recipients;
  service.responses.push(500);
  await service.run();
  service.mail.refusedRecipients = [];
  service.mail.refusals.length = 0;
  for (const spy of spies) spy.mockRestore();
  expect(logged.length).toBeGreaterThan(1);
  const { rows } = await sql('SELECT n::text AS text FROM alert_notification n');
  for (const text of [...logged, ...rows.map((row) => row.text as string)]) {
    expect(text).not.toContain('canary');
    expect(text).not.toContain(mailUser.password);
  }
});

it('no name of an account or rule adds a header or a recipient to an e-mail', async () => {
  const { id } = await service.createChannel({ kind: 'email', recipients });
  await service.createRule({ condition: { kind: 'break_open' }, channelIds: [id] });
  const hostile = 'x\r\nBcc: canary@evil.example\r\n\r\ncanary body';
  await sql('UPDATE bank_account SET name = $1', hostile);
  await sql('UPDATE alert_rule SET name = $1', hostile);
  await service.openBreak('hostile', 100);
  await service.run();
  const [mail] = service.mail.mails;
  expect(mail!.recipients).toEqual(recipients);
  expect(mail!.headers.has('bcc')).toBe(false);
  expect(mail!.headers.get('subject')).toContain('(x Bcc: canary@evil.example canary body)');
  expect(mail!.text.split('\n')[0]).toBe('Regra: x Bcc: canary@evil.example canary body');
});
