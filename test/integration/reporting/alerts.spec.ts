// Alerts to people: each condition fires once, lasts quietly, is acknowledged and cleared, and
// fires again as another alert. The messages go to a real mail server.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectError } from '../../contract/samples.js';
import { alertService, type AlertService } from '../../support/alerts.js';
import { encryptedSecretOf } from '../../support/endpoint-services.js';

let service: AlertService;
beforeAll(async () => {
  service = await alertService();
});
afterAll(() => service.stop());
afterEach(() => service.reset());

const sql = (text: string, ...values: unknown[]) => service.pool.query(text, values);
const states = async (query = '') => (await service.alerts(query)).map(({ state }) => state);
const email = () =>
  service.createChannel({
    kind: 'email',
    recipients: ['ana@empresa.example', 'rui@empresa.example'],
  });
const breaks = { kind: 'break_open' };

describe('an alert', () => {
  it('fires once, lasts quietly, is cleared with its cause, and fires again as another one', async () => {
    const { id: channelId } = await email();
    const { id: ruleId } = await service.createRule({ condition: breaks, channelIds: [channelId] });
    await service.run();
    expect(service.mail.mails).toEqual([]);

    const breakId = await service.openBreak('life', 123_456);
    await service.run();
    await service.run();
    await service.run();
    expect(service.mail.mails).toHaveLength(1);
    const [first] = await service.alerts();
    expect(first).toMatchObject({
      ...{ ruleId, ruleName: 'Regra', subject: `break:${breakId}`, state: 'firing' },
      ...{ severity: 'medium', amount: 1_234.56, clearedAt: null },
      detail: { breakId, breakKind: 'missing', openedAt: expect.stringMatching(/\.\d{3}Z$/) },
    });
    const mail = service.mail.mails[0]!;
    expect(mail.recipients).toEqual(['ana@empresa.example', 'rui@empresa.example']);
    expect(mail.from).toBe('alerts@concilia.example');
    expect(mail.headers.get('subject')).toBe('[Concilia] main: 1 alerta, R$\u00a01.234,56 (Regra)');
    expect(mail.text).toContain('média · Pagamento não localizado · R$\u00a01.234,56 · desde ');
    expect(mail.text).toContain(`/console/accounts/main/breaks/${breakId}`);

    await service.setBreak(breakId, 'resolved');
    await service.run();
    await service.run();
    expect(service.mail.mails.map(({ headers }) => headers.get('subject'))).toEqual([
      expect.stringContaining('1 alerta,'),
      expect.stringContaining('1 alerta encerrado'),
    ]);
    const { body } = await service.call('GET', `/v1/alerts/${first!.id as string}`);
    expect(body).toMatchObject({ state: 'cleared', clearedAt: expect.any(String) });
    expect(body.history.map(({ action }: { action: string }) => action)).toEqual([
      'fired',
      'cleared',
    ]);
    expect(Date.parse(body.lastSeenAt)).toBeLessThanOrEqual(Date.parse(body.clearedAt));

    await service.setBreak(breakId, 'open');
    await service.run();
    expect(await states(`ruleId=${ruleId}`)).toEqual(['firing', 'cleared']);
    expect(service.mail.mails).toHaveLength(3);
  });

  it('is acknowledged once, with the reason and the key, and is still cleared', async () => {
    const { id: channelId } = await email();
    const remindAfterHours = 1;
    const rule = { condition: breaks, channelIds: [channelId], remindAfterHours };
    await service.createRule(rule);
    const breakId = await service.openBreak('acknowledged', 100);
    await service.run();
    await sql(`UPDATE alert SET notified_at = notified_at - interval '61 minutes'`);
    await service.run();
    await service.run();
    const subjects = () => service.mail.mails.map(({ headers }) => headers.get('subject'));
    expect(subjects()).toEqual([
      expect.stringContaining('1 alerta,'),
      expect.stringContaining('1 alerta não reconhecido'),
    ]);

    const [{ id }] = (await service.alerts('state=firing')) as [{ id: string }];
    const path = `/v1/alerts/${id}/acknowledge`;
    const acknowledged = await service.call('POST', path, { body: { reason: 'em análise' } });
    expect(acknowledged.status).toBe(200);
    expect(acknowledged.body).toMatchObject({
      state: 'acknowledged',
      history: [
        { action: 'fired', actor: null },
        { action: 'acknowledged', actor: expect.any(String), reason: 'em análise' },
      ],
    });
    const again = await service.call('POST', path, { body: { reason: 'em análise' } });
    expectError(again, 409);
    expect(again.body.code).toBe('alert_not_firing');
    await sql(`UPDATE alert SET notified_at = notified_at - interval '61 minutes'`);
    await service.run();
    expect(service.mail.mails).toHaveLength(2);

    await service.setBreak(breakId, 'resolved');
    await service.run();
    expect(subjects()[2]).toContain('1 alerta encerrado');
  });

  it('is acknowledged with all others of its rule', async () => {
    const { id: ruleId } = await service.createRule({ condition: breaks });
    for (const index of [1, 2, 3]) await service.openBreak(`all ${index}`, 100);
    await service.evaluate();
    const body = { ruleId, reason: 'arquivo do banco atrasado' };
    const { body: first } = await service.call('POST', '/v1/alerts/acknowledge', { body });
    expect(first).toEqual({ acknowledged: 3 });
    const { body: second } = await service.call('POST', '/v1/alerts/acknowledge', { body });
    expect(second).toEqual({ acknowledged: 0 });
    expect(await states('state=acknowledged')).toHaveLength(3);
    const history = await sql(
      `SELECT h.actor FROM alert_history_entry h JOIN alert a ON a.id = h.alert_id
       WHERE h.action = 'acknowledged' AND a.rule_id = $1`,
      ruleId,
    );
    expect(history.rows).toHaveLength(3);
    await expect(sql('DELETE FROM alert_history_entry')).rejects.toThrow('append-only');
  });

  it('of a rule that is disabled or removed is cleared without a message', async () => {
    const { id: channelId } = await email();
    const { id } = await service.createRule({ condition: breaks, channelIds: [channelId] });
    await service.openBreak('disabled', 100);
    await service.run();
    const path = `/v1/alert-rules/${id}`;
    await service.call('PATCH', path, { body: { isEnabled: false } });
    await service.run();
    expect(await states(`ruleId=${id}`)).toEqual(['cleared']);
    await service.call('PATCH', path, { body: { isEnabled: true } });
    await service.run();
    expect(await states(`ruleId=${id}`)).toEqual(['firing', 'cleared']);
    const { body } = await service.call('DELETE', path);
    expect(body).toEqual({ id, clearedAlerts: 1 });
    await service.run();
    expect(service.mail.mails).toHaveLength(2);
    expectError(await service.call('GET', path), 404);
  });
});

it('no statement is sent for alerts while no rule is enabled, beside the shared read', async () => {
  const { id } = await service.createRule({ condition: breaks, isEnabled: false });
  await service.openBreak('no rule', 100);
  const direct = jest.spyOn(service.database.sql, '$executeRaw');
  const read = jest.spyOn(service.database.sql, '$queryRaw');
  await service.evaluate();
  expect([direct, read].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  await service.call('PATCH', `/v1/alert-rules/${id}`, { body: { isEnabled: true } });
  direct.mockClear();
  await service.evaluate();
  expect(direct.mock.calls.length).toBeGreaterThan(0);
  direct.mockRestore();
  read.mockRestore();
});

describe('the condition', () => {
  it.each([
    ['all kinds', {}, ['a', 'b', 'c', 'd']],
    ['a kind', { kinds: ['unknown_outcome'] }, ['d']],
    ['an amount', { minAmount: 1_000 }, ['b', 'c']],
    ['a severity', { minSeverity: 'high' }, ['c', 'd']],
    ['an age', { minAgeHours: 48 }, ['c']],
    ['all of them', { kinds: ['missing'], minAmount: 5_000, minAgeHours: 1 }, ['c']],
  ])('break_open finds breaks by %s', async (_, more, expected) => {
    const named = new Map([
      [await service.openBreak('by a', 99), 'a'],
      [await service.openBreak('by b', 100_000), 'b'],
      [await service.openBreak('by c', 1_000_000), 'c'],
      [await service.openBreak('by d', null, 'unknown_outcome'), 'd'],
    ]);
    const [old] = [...named].find(([, name]) => name === 'c')!;
    await sql(
      `UPDATE break SET opened_at = now() - interval '60 days', opened_day = '2020-01-01'
       WHERE id = $1`,
      old,
    );
    const { id: ruleId } = await service.createRule({ condition: { ...breaks, ...more } });
    await service.evaluate();
    const found = (await service.alerts(`ruleId=${ruleId}`)).map(({ detail }) =>
      named.get((detail as { breakId: string }).breakId),
    );
    expect(found.sort()).toEqual(expected);
    await sql('UPDATE break SET subject = id::text');
  });

  it('break_open finds disputes before their deadline', async () => {
    const ids: string[] = [];
    for (const hours of [23, 25, -1]) {
      const id = await service.openBreak(`due in ${hours}`, 100, 'disputed');
      await sql(
        `UPDATE break SET evidence = jsonb_build_object('deadlineAt',
           now() + $2 * interval '1 hour') WHERE id = $1`,
        ...[id, hours],
      );
      ids.push(id);
    }
    await service.openBreak('no deadline', 100);
    const condition = { ...breaks, deadlineWithinHours: 24 };
    const { id: ruleId } = await service.createRule({ condition });
    await service.evaluate();
    const found = (await service.alerts(`ruleId=${ruleId}`)).map(
      ({ detail }) => (detail as { breakId: string }).breakId,
    );
    expect(found.sort()).toEqual([ids[0], ids[2]].sort());
    await sql('UPDATE break SET subject = id::text');
  });

  it('break_open follows the severity steps of the account', async () => {
    await service.openBreak('steps', 1_000_000);
    const condition = { ...breaks, minSeverity: 'medium' };
    const { id: ruleId } = await service.createRule({ condition });
    await service.evaluate();
    expect(await states(`ruleId=${ruleId}`)).toEqual(['firing']);
    const setSteps = (amounts: number[]) =>
      service.call('PUT', '/v1/severity-steps', {
        body: { amounts, businessDays: [1, 3, 10], reason: 'rotina' },
      });
    await setSteps([1e6, 2e6, 3e6]);
    await service.evaluate();
    expect(await states(`ruleId=${ruleId}`)).toEqual(['cleared']);
    await setSteps([100, 1_000, 10_000]);
  });

  const endpoint = '01a20000-0000-7000-8000-0000000000e1';
  const waiting = '01a20000-0000-7000-8000-0000000000aa';
  const cases: [string, object, string, string, () => unknown, () => unknown][] = [
    [
      'webhook_loss',
      { minPercent: 10, minLines: 3, hours: 2 },
      'webhooks',
      '3 de 10 lançamentos sem webhook em 2 h',
      async () => {
        await sql('INSERT INTO webhook_health_state VALUES ($1)', service.accountId);
        await sql(
          `INSERT INTO notification_count
           SELECT $1, false, date_trunc('hour', now(), 'UTC'), 'CREDIT_PIX', lag, lines
           FROM (VALUES (-1, 3), (500, 7)) counted(lag, lines)`,
          service.accountId,
        );
      },
      async () => {
        await sql('DELETE FROM notification_count');
        await sql('DELETE FROM webhook_health_state');
      },
    ],
    [
      'deliveries_dead',
      { minDeliveries: 2 },
      `endpoint:${endpoint}`,
      'Entregas sem sucesso em um destino: 2',
      () => sql(`UPDATE delivery SET state = 'dead'`),
      () => sql(`UPDATE delivery SET state = 'delivered'`),
    ],
    [
      'no_sync',
      { minutes: 30 },
      'sync',
      'Última sincronização do extrato: ',
      () =>
        sql(
          `INSERT INTO statement_state (account_id, last_sync_started_at)
           VALUES ($1, now() - interval '31 minutes')
           ON CONFLICT (account_id) DO UPDATE
           SET last_sync_started_at = EXCLUDED.last_sync_started_at`,
          service.accountId,
        ),
      () => sql('UPDATE statement_state SET last_sync_started_at = now()'),
    ],
    [
      'day_not_certified',
      { by: '00:00' },
      '',
      ' sem certificado',
      () =>
        sql(
          `INSERT INTO day_close_state (account_id, next_date)
           SELECT $1, to_char(now() AT TIME ZONE 'America/Sao_Paulo' - interval '1 day',
                              'YYYY-MM-DD')`,
          service.accountId,
        ),
      () => sql('DELETE FROM day_close_state'),
    ],
    [
      'approval_waiting',
      { minutes: 30 },
      `operation:${waiting}`,
      'Pagamento aguarda aprovação',
      () =>
        sql(
          `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params,
             amount_cents, next_action_at, created_at)
           VALUES ($1, $2, 'create_transfer', 'awaiting_approval', 'h', '{}', 100,
             now() + interval '1 day', now() - interval '31 minutes')`,
          ...[service.accountId, waiting],
        ),
      () => sql('DELETE FROM operation'),
    ],
    [
      'debit_waiting',
      { seconds: 60 },
      'line:7',
      'Débito 7: aguarda explicação',
      async () => {
        await sql(
          `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
             balance_previous_cents, current_balance_cents, occurred_at, recorded_at, content_hash,
             content)
           SELECT $1, nsu, nsu::text, is_credit, 100, 'X', 0, 0, now(),
                  now() - age * interval '1 second', 'h', '{}'
           FROM (VALUES (7, false, 61), (8, false, 30), (9, true, 61)) AS l(nsu, is_credit, age)
           ON CONFLICT DO NOTHING`,
          service.accountId,
        );
        await sql(
          `INSERT INTO line_outcome (account_id, nsu, version, state, leaf_hash, sequence)
           SELECT account_id, nsu, 1, 'pending', '\\x00', 1 FROM statement_line
           ON CONFLICT (account_id, nsu) DO UPDATE
           SET state = 'pending', version = line_outcome.version + 1,
               sequence = line_outcome.sequence + 1`,
        );
      },
      () =>
        sql(
          `UPDATE line_outcome
           SET state = 'in_break', version = version + 1, sequence = sequence + 1`,
        ),
    ],
  ];
  beforeAll(async () => {
    await sql(
      `INSERT INTO webhook_endpoint (account_id, id, url, event_types, secret)
       VALUES ($1, $2, 'https://a.example', '{}', $3)`,
      ...[service.accountId, endpoint, encryptedSecretOf(service.accountId, endpoint)],
    );
    await sql('INSERT INTO event_position VALUES ($1, 2)', service.accountId);
    await sql(
      `WITH e AS (
         INSERT INTO event
           (account_id, id, position, type, resource_kind, resource_id, sequence, data)
         SELECT $1, gen_random_uuid(), n, 'charge.paid', 'charge', 'x', n, '{}'
         FROM generate_series(1, 2) n RETURNING id)
       INSERT INTO delivery (account_id, id, event_id, endpoint_id, state)
       SELECT $1, gen_random_uuid(), e.id, $2, 'delivered' FROM e`,
      ...[service.accountId, endpoint],
    );
  });
  it.each(cases)(
    '%s fires once, is cleared, and fires again',
    async (kind, more, subject, text, begin, end) => {
      const { id: channelId } = await service.createChannel({
        ...{ kind: 'slack', url: `${service.http.url}/services/T0/B0/token` },
      });
      const { id: ruleId } = await service.createRule({
        condition: { kind, ...more },
        ...{ severity: 'critical', channelIds: [channelId] },
      });
      await service.run();
      expect(await states(`ruleId=${ruleId}`)).toEqual([]);
      await begin();
      await service.run();
      await service.run();
      const [alert, ...others] = await service.alerts(`ruleId=${ruleId}`);
      expect(others).toEqual([]);
      const amount = ['approval_waiting', 'debit_waiting'].includes(kind) ? 1 : null;
      expect(alert).toMatchObject({ state: 'firing', severity: 'critical', amount });
      expect(alert!.subject).toContain(subject || 'day:');
      expect(service.requests.map((request) => JSON.parse(request.text).text)).toEqual([
        expect.stringContaining(text),
      ]);
      await end();
      await service.run();
      expect(await states(`ruleId=${ruleId}`)).toEqual(['cleared']);
      await begin();
      await service.run();
      expect(await states(`ruleId=${ruleId}`)).toEqual(['firing', 'cleared']);
      expect(service.requests).toHaveLength(3);
      await end();
    },
  );

  it('day_not_certified has an alert for each day, until the time of today is due', async () => {
    const { id: ruleId } = await service.createRule({
      condition: { kind: 'day_not_certified', by: '00:00' },
    });
    const day = (before: number) =>
      sql(
        `SELECT to_char(now() AT TIME ZONE 'America/Sao_Paulo' - $1 * interval '1 day',
           'YYYY-MM-DD') AS day`,
        before,
      ).then(({ rows }) => rows[0].day as string);
    await sql('INSERT INTO day_close_state VALUES ($1, $2)', service.accountId, await day(3));
    await service.evaluate();
    const subjects = async () =>
      (await service.alerts(`ruleId=${ruleId}&state=firing`)).map(({ subject }) => subject).sort();
    const days = [await day(3), await day(2), await day(1)].map((one) => `day:${one}`);
    expect(await subjects()).toEqual(days);
    await sql('UPDATE day_close_state SET next_date = $1', await day(1));
    await service.evaluate();
    expect(await subjects()).toEqual(days.slice(2));
    await sql('DELETE FROM day_close_state');
  });

  it.each([
    ['$.condition.kind', { condition: { kind: 'unheard' } }],
    ['$.condition.kinds[0]', { condition: { ...breaks, kinds: ['x'] } }],
    ['$.condition.minAmount', { condition: { ...breaks, minAmount: 0 } }],
    ['$.condition.by', { condition: { kind: 'day_not_certified', by: '24:00' } }],
    ['$.channelIds', { condition: breaks, channelIds: ['01a20000-0000-7000-8000-000000000000'] }],
    ['$.name', { condition: breaks, name: 'Regra\r\nBcc: x@example.com' }],
    ['$.groupSeconds', { condition: breaks, groupSeconds: 3_601 }],
  ])('is refused at %s', async (field, wrong) => {
    const body = { name: 'Regra', ...wrong };
    expectError(await service.call('POST', '/v1/alert-rules', { body }), 400, field);
  });
});
