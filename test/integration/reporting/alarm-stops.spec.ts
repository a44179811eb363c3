// An alarm about a debit stops the account where people chose so, and two of them release it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { AlertEvaluator } from '../../../src/reporting/alerts/alert-evaluator.service.js';
import { declareAlarmRules } from '../../../src/reporting/alerts/evaluation.queries.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { newKeyHeader, slip } from '../../contract/samples.js';
import { internalTransfer } from '../../contract/transfer-samples.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { deleteAllRows, withoutTriggers } from '../../support/parent-rows.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const stopPath = '/v1/accounts/main/alarm-stop';
const modePath = '/v1/accounts/main/mode';
const by = { actor: 'Ana', reason: 'policy 9' };

describe('an alarm', () => {
  let service: ServiceApplication;
  let accountId: number;
  const { asOperator } = operatorOf(() => service);
  beforeAll(async () => {
    service = await serviceApplication();
    ({ id: accountId } = await service.database.prisma.bankAccount.findFirstOrThrow());
    await sync();
  });
  afterEach(async () => {
    await service.sandbox.call('POST', '/sandbox/reset');
    await deleteAllRows(service.database.pool, {
      except: ['bank_account', 'api_key', 'service_secret', 'statement_state'],
    });
    await service.database.pool.query(`UPDATE bank_account SET mode = 'live'`);
  });
  afterAll(() => service.stop());

  const get = <Class>(type: new (...args: never[]) => Class) =>
    service.application.get(type, { strict: false });
  const sync = async () => {
    await get(StatementSync).sync(accountId, { sliceMs: 10_000 });
    await get(ReconciliationService).reconcile({ accountId });
    await service.database.pool.query('UPDATE alert_rule SET evaluated_at = NULL');
    await get(AlertEvaluator).evaluate();
    await get(AlertEvaluator).raise({ accountId });
  };
  const debit = async (amount: number) => {
    const body = { amount, typeName: 'DEBIT_PIX', isCredit: false, counterpartyAccount: '1000002' };
    const written = await service.sandbox.call('POST', '/sandbox/transactions', { body });
    expect(written.status).toBe(200);
    return written.body.nsu as number;
  };
  const read = async () => (await asOperator('GET', stopPath)).body;
  const turnOn = async () => {
    const { preview } = await read();
    const body = { stopsOnAlarm: true, preview, ...by };
    expect((await asOperator('PUT', stopPath, body)).status).toBe(200);
  };
  const mode = async () => (await asOperator('GET', modePath)).body;
  const send = () =>
    service.call('POST', '/baas/v1/charges', { body: slip(), headers: newKeyHeader() });
  const sent = async () => (await send()).status;
  const person = (email: string) => signedInPerson(service, email, { accountId, role: 'admin' });
  const release = (who: Awaited<ReturnType<typeof person>>, reason = 'checked') =>
    who.submit('/console/accounts/main/account/mode', { mode: 'live', reason });

  it('stops nothing until a person who has seen where it would have turns it on', async () => {
    const condition = { kind: 'unrequested_debit' };
    await service.call('POST', '/v1/alert-rules', { body: { name: 'alarm', condition } });
    const nsu = await debit(50);
    await sync();
    expect(await mode()).toMatchObject({ mode: 'live', alarmNsu: null });
    const seen = await read();
    expect(seen).toMatchObject({
      ...{ stopsOnAlarm: false, lines: 1 },
      data: [{ nsu, amount: 50, debit: 'unexplained' }],
    });
    const without = { stopsOnAlarm: true, ...by };
    expect((await asOperator('PUT', stopPath, without)).status).toBe(400);
    await debit(60);
    await sync();
    const { preview } = seen;
    const refused = await asOperator('PUT', stopPath, { ...without, preview });
    expect([refused.status, refused.body.code]).toEqual([409, 'changed_meanwhile']);
    expect(await mode()).toMatchObject({ mode: 'live' });
    await turnOn();
    const { body } = await asOperator('GET', '/v1/accounts/main/payment-controls');
    expect(body.guard).toMatchObject({ stopsOnAlarm: true, alertChannels: 0 });
    expect(body.changes[0]).toMatchObject({ ...by, details: { guard: { stopsOnAlarm: true } } });
    // What is raised already stops nothing.
    await sync();
    expect(await mode()).toMatchObject({ mode: 'live' });
    await debit(70);
    await sync();
    expect(await mode()).toMatchObject({ mode: 'stopped' });
  });

  it('has among the debits of 90 days what a person has explained since', async () => {
    const nsu = await debit(50);
    await sync();
    const { data } = (await service.call('GET', '/v1/breaks?state=open')).body;
    const accepted = await service.call('POST', `/v1/breaks/${data[0].id}/actions`, {
      ...{ body: { action: 'accept', reason: 'a card' }, headers: newKeyHeader() },
    });
    expect(accepted.status).toBe(200);
    await service.database.pool.query('DELETE FROM noted_debit');
    expect((await read()).data).toMatchObject([{ nsu, debit: 'unexplained' }]);
  });

  it.each([
    ['another amount than ours', 36, 'own_id'],
    ['a second one of ours', 35, 'second_debit'],
  ])('has among them %s', async (_, amount, row) => {
    const body = internalTransfer({ amount: 35, externalId: 'ours' });
    const ours = await service.call('POST', '/baas/api/v2/transfers', {
      ...{ body, headers: newKeyHeader() },
    });
    expect(ours.status).toBe(200);
    await sync();
    const of = { typeName: 'DEBIT_TRANSFER_INTERNAL', isCredit: false, externalId: 'ours' };
    const written = await service.sandbox.call('POST', '/sandbox/transactions', {
      body: { ...of, amount },
    });
    await sync();
    const expected = [{ nsu: written.body.nsu, debit: row }];
    expect((await read()).data).toMatchObject(expected);
    await service.database.pool.query('DELETE FROM noted_debit');
    expect((await read()).data).toMatchObject(expected);
  });

  it('stops what is new, once, until the admin key releases it', async () => {
    await turnOn();
    expect(await sent()).toBe(200);
    const nsu = await debit(50);
    await sync();
    // One is refused before it is stored, the other before the bank is called.
    const refusals = [await send(), await service.call('PUT', '/baas/v1/charges/a/expire')];
    for (const { status, body } of refusals)
      expect([status, body.title]).toEqual([503, expect.stringMatching(/^An alarm has stopped /)]);
    const stopped = await mode();
    expect(stopped).toMatchObject({ mode: 'stopped', alarmNsu: nsu, releaseRequestedBy: [] });
    expect(stopped.changes[0]).toMatchObject({
      ...{ actor: 'service', reason: `alarm: nobody requested the debit ${nsu}` },
    });
    await sync();
    expect((await mode()).changes).toHaveLength(1);
    const { body } = await asOperator('PUT', modePath, { mode: 'live', ...by });
    expect(body).toMatchObject({ mode: 'live', alarmNsu: null });
    await sync();
    expect(await sent()).toBe(200);
  });

  it('stops nothing for a debit from before the policy, nor from before the release', async () => {
    await debit(50);
    await sync();
    await turnOn();
    // The account has a rule for alarms only now.
    await sync();
    expect((await service.call('GET', '/v1/alerts')).body.data).toHaveLength(1);
    expect(await mode()).toMatchObject({ mode: 'live', changes: [] });
    await asOperator('PUT', modePath, { mode: 'stopped', ...by });
    await debit(60);
    await get(StatementSync).sync(accountId, { sliceMs: 10_000 });
    await asOperator('PUT', modePath, { mode: 'live', ...by });
    await sync();
    expect(await mode()).toMatchObject({ mode: 'live', alarmNsu: null });
    await debit(70);
    await sync();
    expect((await mode()).mode).toBe('stopped');
  });

  it('stops for a debit once, whatever raises it again', async () => {
    await turnOn();
    const nsu = await debit(50);
    await sync();
    await service.database.pool.query(`UPDATE alert_rule SET is_enabled = false`);
    await sync();
    expect((await service.call('GET', '/v1/alert-rules')).body.data).toHaveLength(2);
    const { alarmNsu, changes } = await mode();
    expect(alarmNsu).toBe(nsu);
    expect(changes.filter(({ actor }: { actor: string }) => actor === 'service')).toHaveLength(1);
  });

  it.each([
    ['shows', 'stopped', 1],
    ['does not show', 'live', 1],
  ])('about a line that is old and the bank %s leaves it %s', async (shows, expected, alarms) => {
    await turnOn();
    await debit(50);
    await get(StatementSync).sync(accountId, { sliceMs: 10_000 });
    await get(ReconciliationService).reconcile({ accountId });
    await withoutTriggers(service.database.pool, async (client) => {
      for (const [table, time] of [
        ['payment_control_change', 'created_at'],
        ['account_mode_change', 'created_at'],
        ['statement_line', 'recorded_at'],
      ])
        await client.query(`UPDATE ${table} SET ${time} = ${time} - interval '1 minute'`);
    });
    if (shows === 'does not show') await service.sandbox.call('POST', '/sandbox/reset');
    await get(AlertEvaluator).evaluate();
    expect(await mode()).toMatchObject({ mode: expected });
    expect((await service.call('GET', '/v1/alerts')).body.data).toHaveLength(alarms);
  });

  it('is over for people when two of them say so', async () => {
    await turnOn();
    const [ana, bia] = [await person('ana@example.com'), await person('bia@example.com')];
    const nsu = await debit(50);
    await sync();
    const { text } = await ana.get('/console/accounts/main/account');
    expect(text).toContain(`The alarm of debit ${nsu} stopped sending`);
    expect((await release(ana)).location).toContain('asked=1');
    await release(ana);
    // Neither one person twice, nor by a detour.
    await ana.submit('/console/accounts/main/account/mode', {
      ...{ mode: 'reconcile_only', reason: 'detour' },
    });
    await release(ana);
    expect(await mode()).toMatchObject({ mode: 'reconcile_only', alarmNsu: nsu });
    expect((await mode()).releaseRequestedBy).toHaveLength(1);
    expect((await release(bia)).location).toContain('saved=1');
    expect(await mode()).toMatchObject({ mode: 'live', alarmNsu: null });
  });

  it.each(['role', 'alarm'])('is not over by a request from before: %s', async (since) => {
    await turnOn();
    const [ana, bia] = [await person('ana@example.com'), await person('bia@example.com')];
    await debit(50);
    await sync();
    await release(ana);
    if (since === 'role')
      await service.database.pool.query('DELETE FROM operator_role WHERE operator_id = $1', [
        ana.id,
      ]);
    else {
      await debit(60);
      await sync();
    }
    await release(bia);
    expect((await mode()).mode).toBe('stopped');
  });

  it('needs two people also where a person had stopped the account before', async () => {
    await turnOn();
    await asOperator('PUT', modePath, { mode: 'stopped', ...by });
    const nsu = await debit(50);
    await sync();
    await release(await person('ana@example.com'));
    expect(await mode()).toMatchObject({ mode: 'stopped', alarmNsu: nsu });
  });

  it.each([
    ['invited', 'totp_confirmed_at = clock_timestamp()'],
    ['linked', `totp_confirmed_at = NULL, sso_hash = 'x'`],
  ])('is not over by a person who was %s since, nor at his request', async (how, data) => {
    await turnOn();
    const [ana, bia] = [await person('ana@example.com'), await person('bia@example.com')];
    await debit(50);
    await sync();
    const { pool } = service.database;
    await pool.query(`UPDATE operator SET ${data} WHERE id = $1`, [bia.id]);
    if (how === 'linked')
      await pool.query(
        `INSERT INTO audit_entry (id, operator_id, action, subject)
         VALUES (gen_random_uuid(), $1, 'link person to sso', '')`,
        [bia.id],
      );
    await release(bia);
    await release(ana);
    await release(bia);
    expect((await mode()).mode).toBe('stopped');
    expect((await mode()).releaseRequestedBy).toEqual([`person:${ana.id}`]);
    if (how === 'invited') return;
    await withoutTriggers(pool, async (client) => {
      await client.query('DELETE FROM audit_entry');
    });
    await release(bia);
    expect((await mode()).mode).toBe('live');
  });

  it('is turned on at the console, on the page of what it would have stopped', async () => {
    const nsu = await debit(50);
    await sync();
    const ana = await person('ana@example.com');
    const page = '/console/accounts/main/payment-controls/alarm-stop';
    const { text } = await ana.get(page);
    expect(text).toContain('someone who has the bank&#39;s credentials'.replace('&#39;', "'"));
    expect(text).toContain(`/alarms/${nsu}`);
    const old = await ana.submit(page, { stops: 'yes', preview: 'old', reason: 'policy' });
    expect(old.text).toContain('There are other debits');
    const { preview } = await read();
    expect((await ana.submit(page, { stops: 'yes', preview, reason: 'policy' })).status).toBe(303);
    expect((await read()).stopsOnAlarm).toBe(true);
    const off = await ana.submit(page, { stops: 'no', preview, reason: 'too often' });
    expect(off.status).toBe(303);
    expect((await read()).stopsOnAlarm).toBe(false);
  });

  describe('of a guarded account without a rule', () => {
    const guard = async () => {
      const body = { guard: { intervalSeconds: 3 }, ...by };
      return (await asOperator('PUT', '/v1/accounts/main/payment-controls', body)).body.guard;
    };
    const channel = async (name: string) => {
      const body = { kind: 'webhook', name, url: `http://127.0.0.1:4000/${name}` };
      return (await service.call('POST', '/v1/alert-channels', { body })).body.id as string;
    };
    const notified = async () =>
      (await service.call('GET', '/v1/alert-notifications')).body.data
        .map(({ channelId }: { channelId: string }) => channelId)
        .sort();

    it('goes to all channels, also after somebody removed its rule', async () => {
      expect(await guard()).toMatchObject({ alertChannels: 0 });
      const ana = await person('ana@example.com');
      const page = '/console/accounts/main/payment-controls';
      expect((await ana.get(page)).text).toContain('There is no alert channel');
      const channels = [await channel('one'), await channel('two')];
      expect(await guard()).toMatchObject({ alertChannels: 2 });
      await sync();
      const { data } = (await service.call('GET', '/v1/alert-rules')).body;
      expect(data).toHaveLength(1);
      await service.call('DELETE', `/v1/alert-rules/${data[0].id}`);
      await debit(50);
      await sync();
      expect(await notified()).toEqual(channels.sort());
    });

    it('has one, though two processes declare it at once', async () => {
      await guard();
      const { database } = service;
      const other = await database.pool.connect();
      await other.query('BEGIN');
      await other.query('SELECT FROM payment_control FOR NO KEY UPDATE');
      await other.query(
        `INSERT INTO alert_rule (account_id, id, name, condition_kind, condition, severity,
           group_seconds, notifies_cleared, is_enabled)
         SELECT account_id, gen_random_uuid(), 'Alarme', 'unrequested_debit',
           '{"kind":"unrequested_debit","level":"alarm"}', 'critical', 0, true, true
         FROM payment_control`,
      );
      const declared = declareAlarmRules(database);
      await sleep(200);
      await other.query('COMMIT');
      other.release();
      await declared;
      expect((await service.call('GET', '/v1/alert-rules')).body.data).toHaveLength(1);
    });

    it('goes to all channels where those of its rule are removed', async () => {
      const [removed, other] = [await channel('one'), await channel('two')];
      const condition = { kind: 'unrequested_debit' };
      const body = { name: 'alarm', condition, channelIds: [removed] };
      await service.call('POST', '/v1/alert-rules', { body });
      await service.call('DELETE', `/v1/alert-channels/${removed}`);
      await debit(50);
      await sync();
      expect(await notified()).toEqual([other]);
    });
  });
});
