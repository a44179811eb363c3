// The messages about alerts: grouped, signed, repeated until a receiver has them, and sent once by
// several processes. They go to a real mail server and a real HTTP receiver.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { alertService, type AlertService } from '../../support/alerts.js';

let service: AlertService;
beforeAll(async () => {
  service = await alertService();
});
afterAll(() => service.stop());
afterEach(() => service.reset());

const sql = (text: string, ...values: unknown[]) => service.pool.query(text, values);
const recipients = ['ana@empresa.example', 'rui@empresa.example'];
const email = () => service.createChannel({ kind: 'email', recipients });
const breaks = { kind: 'break_open' };

describe('a message', () => {
  it('groups the alerts that fire within its time, with counts, total and the first ten', async () => {
    const { id: channelId } = await service.createChannel({
      ...{ kind: 'webhook', url: `${service.http.url}/alerts`, language: 'en' },
    });
    const condition = breaks;
    const { id: ruleId } = await service.createRule({
      ...{ condition, channelIds: [channelId], groupSeconds: 60 },
    });
    await sql(
      `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence)
       SELECT $1, gen_random_uuid(), 'unexpected', 'open', 'flood ' || n,
              CASE WHEN n > 2 THEN n * 100 END, '{}'
       FROM generate_series(1, 5000) n`,
      service.accountId,
    );
    await service.run();
    expect(service.requests).toEqual([]);
    const waited = (seconds: number) =>
      sql(
        `UPDATE alert SET fired_at = fired_at - $1 * interval '1 second'
         WHERE pending_message = 'fired'`,
        seconds,
      );
    await waited(40);
    await service.openBreak('flood late', 1_000_000);
    await service.run();
    expect(service.requests).toEqual([]);
    await waited(25);
    await service.run();
    await service.run();
    expect(service.requests).toHaveLength(1);
    const { data, type } = JSON.parse(service.requests[0]!.text);
    expect(type).toBe('alert.fired');
    expect(data).toMatchObject({
      ...{ account: 'main', rule: { id: ruleId, name: 'Regra' }, count: 5_001, withoutAmount: 2 },
      amount: (5_000 * 5_001) / 2 - 3 + 10_000,
      severities: { low: 999, medium: 4_002 },
    });
    expect(data.alerts).toHaveLength(10);
    expect(data.alerts[0]).toMatchObject({ severity: 'medium', amount: 10_000 });
    const { body: notifications } = await service.call('GET', '/v1/alert-notifications');
    expect(notifications.data[0]).toMatchObject({
      alerts: 5_001,
      kind: 'fired',
      state: 'delivered',
    });
  });

  it('is not sent about an alert that was cleared before it', async () => {
    const { id: channelId } = await email();
    await service.createRule({ condition: breaks, channelIds: [channelId], groupSeconds: 60 });
    const breakId = await service.openBreak('short', 100);
    await service.run();
    await service.setBreak(breakId, 'resolved');
    await service.run();
    await sql(`UPDATE alert SET cleared_at = cleared_at - interval '1 hour'`);
    await service.run();
    expect(service.mail.mails).toEqual([]);
  });

  it('of a webhook is signed, and a repeat has the same id and bytes', async () => {
    const { id: channelId, secret } = await service.createChannel({
      ...{ kind: 'webhook', url: `${service.http.url}/alerts` },
    });
    expect(secret).toMatch(/^whsec_/);
    await service.createRule({ condition: breaks, channelIds: [channelId] });
    await service.openBreak('signed', 100);
    service.responses.push(500, 503);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await service.run();
      await service.run();
      await sql(`UPDATE alert_notification SET next_attempt_at = now() WHERE state = 'pending'`);
    }
    await service.run();
    expect(service.requests).toHaveLength(3);
    expect(new Set(service.requests.map(({ text }) => text)).size).toBe(1);
    expect(new Set(service.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { text, headers } of service.requests)
      new Webhook(secret).verify(text, headers as Record<string, string>);
    expect(() => new Webhook('whsec_AAAA').verify(service.requests[0]!.text, {})).toThrow();
  });

  it('is dead after its last attempt, is listed, and is sent when it is replayed', async () => {
    const { id: channelId } = await service.createChannel({
      ...{ kind: 'slack', url: `${service.http.url}/services/T0/B0/token` },
    });
    await service.createRule({ condition: breaks, channelIds: [channelId] });
    await service.openBreak('dead', 100);
    service.responses.push(...Array.from({ length: 10 }, () => 500));
    await service.evaluate();
    for (let attempt = 0; attempt < 11; attempt += 1) {
      await service.send();
      await sql(`UPDATE alert_notification SET next_attempt_at = now() WHERE state = 'pending'`);
    }
    expect(service.requests).toHaveLength(10);
    const list = `/v1/alert-notifications?state=dead&channelId=${channelId}`;
    const { body: dead } = await service.call('GET', list);
    expect(dead.data).toEqual([
      expect.objectContaining({ attempts: 10, lastStatus: 500, lastError: 'status_500' }),
    ]);
    const replay = `/v1/alert-notifications/${dead.data[0].id}/replay`;
    expect((await service.call('POST', replay)).status).toBe(202);
    await service.send();
    expect(service.requests).toHaveLength(11);
    expect((await service.call('GET', list)).body.data).toEqual([]);
  });

  it('waits for a mail server that refuses it, and is not repeated to those who have it', async () => {
    const { id: channelId } = await email();
    await service.createRule({ condition: breaks, channelIds: [channelId] });
    await service.openBreak('refused', 100);
    service.mail.refusals.push(451);
    await service.run();
    const { body } = await service.call('GET', `/v1/alert-notifications?channelId=${channelId}`);
    expect(body.data[0]).toMatchObject({
      ...{ state: 'pending', attempts: 1, lastStatus: 451, lastError: 'status_451' },
    });
    service.mail.refusedRecipients = ['rui@empresa.example'];
    await sql(`UPDATE alert_notification SET next_attempt_at = now() WHERE state = 'pending'`);
    await service.send();
    await service.send();
    service.mail.refusedRecipients = [];
    expect(service.mail.mails.map(({ recipients }) => recipients)).toEqual([
      ['ana@empresa.example'],
    ]);
  });

  it('is made and sent once by two processes that work at the same time', async () => {
    const other = await service.startOther();
    try {
      const { id: channelId } = await email();
      const { id: ruleId } = await service.createRule({
        condition: breaks,
        channelIds: [channelId],
      });
      for (let round = 1; round <= 5; round += 1) {
        for (let index = 0; index < 20; index += 1)
          await service.openBreak(`two ${round} ${index}`, 100);
        await Promise.all([service.evaluate(), service.evaluate(other)]);
        await Promise.all([service.send(), service.send(other)]);
        expect(await service.alerts(`ruleId=${ruleId}&limit=500`)).toHaveLength(round * 20);
        expect(service.mail.mails).toHaveLength(round);
        expect(service.mail.mails.at(-1)!.headers.get('subject')).toContain('20 alertas');
      }
    } finally {
      await other.stop();
    }
  });
});
