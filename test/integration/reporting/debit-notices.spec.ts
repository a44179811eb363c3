// Debits of the statement, from the line to whoever is notified: by rules of alerts alone.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { debitsOf } from '../../../src/reporting/alerts/conditions.queries.js';
import {
  evaluateRule,
  listRulesOfDebits,
} from '../../../src/reporting/alerts/evaluation.queries.js';
import { AlertEvaluator } from '../../../src/reporting/alerts/alert-evaluator.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { listDueSyncs } from '../../../src/statement/lines/statement.queries.js';
import { readNotGuardedSince } from '../../../src/statement/lines/sync-interval.queries.js';
import { newKeyHeader } from '../../contract/samples.js';
import { signedInPerson } from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { deleteAllRows, withoutTriggers } from '../../support/parent-rows.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const controlsPath = '/v1/accounts/main/payment-controls';
const payee = '99999999/0001/1000002';

describe('a debit that the service did not request', () => {
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
  });
  afterAll(() => service.stop());

  const get = <Class>(type: new (...args: never[]) => Class) =>
    service.application.get(type, { strict: false });
  const sync = async () => {
    await get(StatementSync).sync(accountId, { sliceMs: 10_000 });
    await get(ReconciliationService).reconcile({ accountId });
    await get(AlertEvaluator).raise({ accountId });
  };
  const rule = async (level: 'alarm' | 'alert') => {
    const body = { name: level, groupSeconds: 0, condition: { kind: 'unrequested_debit', level } };
    const created = await service.call('POST', '/v1/alert-rules', { body });
    expect(created.status).toBe(201);
  };
  const debit = async (amount: number, typeName = 'DEBIT_PIX') => {
    const body = { amount, typeName, isCredit: false, counterpartyAccount: '1000002' };
    const written = await service.sandbox.call('POST', '/sandbox/transactions', { body });
    expect(written.status).toBe(200);
    return String(written.body.nsu);
  };
  const alerts = async () =>
    (await service.call('GET', '/v1/alerts')).body.data.map(
      ({ ruleName, severity, amount, detail }: Record<string, unknown>) => {
        return { rule: ruleName, severity, amount, detail };
      },
    );
  const declare = async (guard: object) => {
    const body = { guard, actor: 'Ana', reason: 'policy 9' };
    const changed = await asOperator('PUT', controlsPath, body);
    expect([changed.status, changed.body.code]).toEqual([200, undefined]);
  };

  it('is an alarm once, whatever rules of lower level find', async () => {
    await rule('alarm');
    await rule('alert');
    const nsu = await debit(50);
    await sync();
    await sync();
    expect(await alerts()).toEqual([
      { rule: 'alarm', severity: 'critical', amount: 50, detail: { nsu, debit: 'unexplained' } },
    ]);
    await declare({ bankContact: '0800 123' });
    const ana = await signedInPerson(service, 'ana@example.com', { accountId, role: 'admin' });
    const { status, text } = await ana.get(`/console/accounts/main/alarms/${nsu}`);
    expect(status).toBe(200);
    for (const shown of ['0800 123', 'nobody requested it', `NSU: ${nsu}`, 'Call the bank now'])
      expect(text).toContain(shown);
  });

  it('is a critical alert up to the threshold, alone and with those of 24 hours', async () => {
    await rule('alarm');
    await rule('alert');
    await declare({ alarmAbove: 80 });
    await debit(80);
    await sync();
    expect(await alerts()).toEqual([expect.objectContaining({ rule: 'alert', amount: 80 })]);
    await debit(0.01);
    await sync();
    const found = await alerts();
    expect(found).toHaveLength(2);
    expect(found).toContainEqual(expect.objectContaining({ rule: 'alarm', amount: 0.01 }));
  });

  it('of a declared type is nothing within its maximum of a day', async () => {
    await rule('alarm');
    const declared = { typeName: 'DEBIT_TAX', maximum: 100, counterparty: null };
    await declare({ alarmAbove: 0, declaredDebits: [declared] });
    await debit(60, 'DEBIT_TAX');
    await debit(40, 'DEBIT_TAX');
    await sync();
    expect(await alerts()).toEqual([]);
    await debit(0.01, 'DEBIT_TAX');
    await sync();
    expect(await alerts()).toEqual([expect.objectContaining({ amount: 0.01 })]);
    const { body } = await asOperator('GET', controlsPath);
    expect(body.changes[0]).toMatchObject({
      ...{ action: 'controls_set', actor: 'Ana', reason: 'policy 9' },
      details: { guard: { alarmAboveCents: '0', declaredDebits: [{ maximumCents: '10000' }] } },
    });
  });

  it('of a declared type to another payee is an alarm', async () => {
    await rule('alarm');
    const declared = { typeName: 'DEBIT_TRANSFER_INTERNAL', maximum: 100 };
    await declare({ alarmAbove: 0, declaredDebits: [{ ...declared, counterparty: '1/1/1' }] });
    // Somebody else has the key of the bank.
    const body = { amount: 60, beneficiaryAccount: '1000002' };
    const headers = newKeyHeader();
    const paid = await service.sandbox.call('POST', '/baas/api/v2/transfers', { body, headers });
    expect(paid.status).toBe(200);
    await sync();
    expect(await alerts()).toHaveLength(1);
    await declare({ declaredDebits: [{ ...declared, counterparty: payee }] });
    await sync();
    expect((await service.call('GET', '/v1/alerts?state=firing')).body.data).toEqual([]);
  });

  it('is an event that a kill switch may wait for, and goes on to others without an answer', async () => {
    const channels: string[] = [];
    for (const name of ['first', 'second']) {
      const body = { kind: 'webhook', name, url: `http://127.0.0.1:4000/${name}` };
      channels.push((await service.call('POST', '/v1/alert-channels', { body })).body.id);
    }
    const [first, second] = channels;
    const condition = { kind: 'unrequested_debit' };
    const body = { name: 'alarm', condition, channelIds: [first], groupSeconds: 0 };
    const escalation = { escalateAfterMinutes: 5, escalationChannelIds: [second] };
    const both = { ...body, ...escalation, channelIds: channels };
    expect((await service.call('POST', '/v1/alert-rules', { body: both })).status).toBe(400);
    const made = await service.call('POST', '/v1/alert-rules', {
      body: { ...body, ...escalation },
    });
    expect(made.body).toMatchObject({ channelIds: [first], ...escalation });
    const nsu = await debit(50);
    await sync();
    await sync();
    const { data: events } = (await service.call('GET', '/v1/events?type=alarm.raised')).body;
    expect(events).toEqual([
      expect.objectContaining({
        resource: { kind: 'transaction', id: nsu },
        data: expect.objectContaining({ nsu: Number(nsu), amount: 50, debit: 'unexplained' }),
      }),
    ]);
    const sent = async () =>
      (await service.call('GET', '/v1/alert-notifications')).body.data.map(
        ({ kind, channelId }: Record<string, string>) => [kind, channelId],
      );
    expect(await sent()).toEqual([['fired', first]]);
    await service.database.pool.query(
      `UPDATE alert SET fired_at = fired_at - interval '5 minutes'`,
    );
    await sync();
    await sync();
    expect(await sent()).toEqual([
      ['escalated', second],
      ['fired', first],
    ]);
  });

  it('is one event, whatever rules raise it, and however often', async () => {
    await rule('alarm');
    await rule('alarm');
    await debit(50);
    await sync();
    expect(await firing()).toHaveLength(2);
    await service.database.pool.query(`UPDATE alert SET state = 'cleared', cleared_at = now()`);
    await sync();
    expect(await firing()).toHaveLength(2);
    const { data } = (await service.call('GET', '/v1/events?type=alarm.raised')).body;
    expect(data).toHaveLength(1);
  });

  it('is seen by a read every few seconds where the account is guarded, else it is red', async () => {
    const { prisma } = service.database;
    const due = async () => (await listDueSyncs(prisma, 3_600_000, false)).length;
    const age = (seconds: number) =>
      service.database.pool.query(
        `UPDATE statement_state
         SET last_sync_started_at = clock_timestamp() - $1 * interval '1 second'`,
        [seconds],
      );
    await sync();
    await age(20);
    const condition = { kind: 'not_guarded' };
    await service.call('POST', '/v1/alert-rules', { body: { name: 'guard', condition } });
    const run = () => get(AlertEvaluator).evaluate();
    await run();
    expect(await alerts()).toEqual([]);
    await declare({ intervalSeconds: 3 });
    expect(await due()).toBe(1);
    expect(await readNotGuardedSince(prisma, accountId)).toBeInstanceOf(Date);
    await service.database.pool.query(`UPDATE alert_rule SET evaluated_at = NULL`);
    await run();
    expect(await alerts()).toEqual([
      expect.objectContaining({ detail: { notGuardedSince: expect.any(String) } }),
    ]);
    await age(8);
    expect(await readNotGuardedSince(prisma, accountId)).toBeNull();
    await age(10);
    expect(await readNotGuardedSince(prisma, accountId)).not.toBeNull();
    await sync();
    expect(await readNotGuardedSince(prisma, accountId)).toBeNull();
  });

  const firing = async () =>
    (await service.call('GET', '/v1/alerts?state=firing')).body.data.map(
      ({ ruleName, severity }: Record<string, unknown>) => [ruleName, severity],
    );

  it('that the bank does not show again is a critical alert, and an alarm after a minute', async () => {
    await rule('alert');
    await rule('alarm');
    await debit(50);
    await get(StatementSync).sync(accountId, { sliceMs: 10_000 });
    await get(ReconciliationService).reconcile({ accountId });
    await service.sandbox.call('POST', '/sandbox/reset');
    await get(AlertEvaluator).raise({ accountId });
    expect(await firing()).toEqual([['alert', 'critical']]);
    await service.database.pool.query(`UPDATE alert_rule SET evaluated_at = NULL`);
    await get(AlertEvaluator).evaluate();
    expect(await firing()).toEqual([['alert', 'critical']]);
    await withoutTriggers(service.database.pool, async (client) => {
      await client.query(
        `UPDATE statement_line SET recorded_at = recorded_at - interval '1 minute'`,
      );
    });
    await get(AlertEvaluator).raise({ accountId });
    expect(await firing()).toEqual([['alarm', 'critical']]);
  });

  it.each([
    ['alarm', 0],
    ['alert', 60],
  ])('of the level %s is announced within %s seconds', async (level, groupSeconds) => {
    const body = { name: level, condition: { kind: 'unrequested_debit', level } };
    const { body: made } = await service.call('POST', '/v1/alert-rules', { body });
    expect(made).toMatchObject({ groupSeconds });
  });

  it('stays an alarm, however old, until it is explained', async () => {
    await rule('alarm');
    await debit(50);
    await sync();
    await service.database.pool.query(
      `UPDATE noted_debit SET found_at = found_at - interval '8 days'`,
    );
    await sync();
    expect(await firing()).toEqual([['alarm', 'critical']]);
  });

  it('of an alarm is not cleared by what was read before it', async () => {
    await rule('alarm');
    await debit(50);
    const { prisma, sql } = service.database;
    const readAt = await service.database.now();
    await sync();
    const [old] = await listRulesOfDebits(prisma, accountId);
    const nothing = debitsOf({ notices: [], earlier: 0 }, 'high');
    await evaluateRule(sql, old!, nothing, { readAt, isAtOnce: true });
    expect(await firing()).toEqual([['alarm', 'critical']]);
    await evaluateRule(sql, old!, nothing, {
      ...{ readAt: await service.database.now(), isAtOnce: true },
    });
    expect(await firing()).toEqual([]);
  });

  it('before go-live is counted in one alert', async () => {
    await rule('alert');
    await debit(50);
    await debit(60);
    await sync();
    await service.database.pool.query(
      `UPDATE noted_debit SET evidence = evidence || '{"isEarlier": true}'`,
    );
    await sync();
    const { data } = (await service.call('GET', '/v1/alerts?state=firing')).body;
    expect(data).toEqual([expect.objectContaining({ detail: { debits: 2 } })]);
  });

  it('is a fee by its type and a price list in force, not by a rule', async () => {
    await rule('alert');
    const charged = [await debit(77), await debit(5, 'DEBIT_FEE')];
    await sync();
    await service.database.pool.query(
      `INSERT INTO classification (account_id, nsu, rule, category)
       SELECT account_id, nsu, 'declared', 'fee' FROM noted_debit ON CONFLICT DO NOTHING`,
    );
    const firingLines = async () => {
      await get(AlertEvaluator).raise({ accountId });
      const { data } = (await service.call('GET', '/v1/alerts?state=firing')).body;
      return data.map(({ detail }: { detail: { nsu: string } }) => detail.nsu).sort();
    };
    const agree = async (validFrom: string) => {
      const tariffs = [{ kind: 'pix_sent', period: 'each', price: 5 }];
      const body = { validFrom, tariffs, reason: 'contrato' };
      const headers = newKeyHeader();
      expect((await service.call('PUT', '/v1/price-list', { body, headers })).status).toBe(200);
    };
    await agree('2099-01-01');
    expect(await firingLines()).toEqual(charged);
    await agree('2020-01-01');
    expect(await firingLines()).toEqual(charged.slice(0, 1));
  });

  it('to an account of somebody else is no transfer to an own account', async () => {
    await rule('alarm');
    await debit(50);
    const { pool } = service.database;
    await sync();
    const details = (taxId: string) =>
      JSON.stringify({
        ...{ ispb: '99999999', branch: '0001', accountNumber: '1000002', holderTaxId: taxId },
      });
    await withoutTriggers(pool, async (client) => {
      await client.query(`UPDATE statement_line SET counterparty = $1, has_one_holder = false`, [
        payee,
      ]);
    });
    await pool.query(`UPDATE bank_account SET bank_details = $2 WHERE id = $1`, [
      ...[accountId, details('11222333000181')],
    ]);
    await pool.query(`INSERT INTO bank_account (slug, bank_details) VALUES ('other', $1)`, [
      details('11444777000161'),
    ]);
    await sync();
    expect(await firing()).toEqual([['alarm', 'critical']]);
    await pool.query(`UPDATE bank_account SET bank_details = $1`, [details('11222333000181')]);
    await sync();
    expect(await firing()).toEqual([]);
    await pool.query(`DELETE FROM bank_account WHERE slug = 'other'`);
    await pool.query(`UPDATE bank_account SET bank_details = NULL`);
  });
});
