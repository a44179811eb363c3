// The close of a month: what refuses it, who may sign it, and what changes after it.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { sha256 } from '../../../src/platform/json/exact-json.js';
import { AlertEvaluator } from '../../../src/reporting/alerts/alert-evaluator.service.js';
import { MonthClosing } from '../../../src/reporting/months/month-closing.service.js';
import { MonthSweeper } from '../../../src/reporting/months/month-sweeper.service.js';
import { newKeyHeader } from '../../contract/samples.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import {
  codeOf,
  hiddenIn,
  personOfEachRole,
  type SignedIn,
} from '../../support/console-visitor.js';
import { operatorOf } from '../../support/operator.js';
import { addPayments, succeededOperations } from '../../support/parent-rows.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const slug = 'book';
const month = '2026-02';
const path = `/v1/months/${month}`;
const lines: TestLine[] = [
  { nsu: 1, at: '2026-02-02T12:00:00.000Z', cents: 1_000 },
  { nsu: 2, at: '2026-02-10T15:00:00.000Z', cents: -280 },
  { nsu: 3, at: '2026-02-28T12:00:00.000Z', cents: 5_000 },
];
const late: TestLine = { nsu: 4, at: '2026-02-20T12:00:00.000Z', cents: -70 };
const [breakId, paymentId, operationId] = [1, 2, 3].map(
  (one) => `00000000-0000-7000-8000-00000000000${one}`,
) as [string, string, string];

let service: ServiceApplication;
let account: { id: number; goLiveAt: Date };
let people: Record<PersonRole, SignedIn>;
let apiKey: string;
const closedDays = new ClosedDays(() => ({
  ...{ database: service.database, accountId: 0 },
  drop: () => Promise.resolve(),
}));
const { run } = closedDays;

const call = (method: string, at: string, body?: object, headers = newKeyHeader()) =>
  service.call(method, at, { body, apiKey, headers: method === 'GET' ? {} : headers });
const read = async (at = path) => (await call('GET', at)).body;
const itemOf = async (item: string) =>
  (await read()).checklist.find((one: { item: string }) => one.item === item);
const sign = async (as: 'prepare' | 'approve', given: object = {}) =>
  call('POST', `${path}/sign-offs`, { as, figuresHash: (await read()).figuresHash, ...given });
/** As the console does for a person. */
const signAs = async (role: PersonRole, as: 'prepare' | 'approve') => {
  const { figuresHash } = await read();
  const closing = service.application.get(MonthClosing, { strict: false });
  const decider = { accountId: account.id, actor: `person:${people[role].id}`, scopes: [] };
  return closing.sign(decider, month, { as, figuresHash }).then(
    ({ state }) => state,
    (error: { details: { reason: string } }) => error.details.reason,
  );
};
const reopen = (reason = 'nota que faltou') => call('POST', `${path}/reopen`, { reason });
const eventsOf = async () =>
  (await read('/v1/events?limit=500')).data
    .filter(({ type }: { type: string }) => type.startsWith('month.'))
    .map(({ type, data }: { type: string; data: object }) => ({ type, ...data }))
    .reverse();

beforeAll(async () => {
  service = await serviceApplication();
  account = await closedDays.account(slug, new Date('2026-02-01T03:00:00Z'));
  people = await personOfEachRole(service, account.id);
  const scopes = ['read', 'reconcile', 'approve', 'alerts'];
  apiKey = (await operatorOf(() => service).createKey(slug, { scopes })).key;
  await closedDays.arrive(account.id, lines);
  await closedDays.decide(account.id);
});
afterAll(() => service.stop());

it('is not met while the statement is not closed over its days', async () => {
  await closedDays.closedUntil(account.id, '2026-02-28');
  await closedDays.close(account);
  expect(await itemOf('statement_complete')).toMatchObject({ count: 1, since: '2026-02-28' });
  expect(await itemOf('days_certified')).toMatchObject({ state: 'not_met', count: 1 });
  const refused = await sign('prepare');
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({
    ...{ code: 'month_not_ready', items: ['statement_complete', 'days_certified'] },
  });
  await closedDays.closedUntil(account.id, '2026-03-01');
  await closedDays.close(account);
  const { checklist, ...shown } = await read();
  expect(shown).toMatchObject({
    ...{ state: 'open', revision: null, firstDay: '2026-02-02', lines: 3 },
    ...{ opening: 100, credits: 60, debits: 2.8, closing: 157.2, policy: { version: 0 } },
  });
  const states = Object.fromEntries(
    checklist.map(({ item, state }: Record<string, string>) => [item, state]),
  );
  expect(states).toMatchObject({ fees_checked: 'not_applicable', breaks_resolved: 'met' });
  expect((await read('/v1/months?limit=500')).data.at(-1)).toMatchObject({ month, state: 'open' });
  for (const other of ['2026-01', '2199-01'])
    expect((await call('GET', `/v1/months/${other}`)).status).toBe(404);
});

it('refuses each thing that stands in the way without a policy', async () => {
  const refusedFor = async (item: string, sql: string, undo: string) => {
    await run(sql.replaceAll('$account', `${account.id}`));
    expect((await sign('prepare')).body).toMatchObject({ code: 'month_not_ready', items: [item] });
    await closedDays.tamper(undo);
  };
  const broken = (columns: string, values: string) =>
    `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence, ${columns})
     VALUES ($account, '${breakId}', 'disputed', 'open', 's', 900, '{}', ${values})`;
  await refusedFor('breaks_resolved', broken('nsu', '2'), 'DELETE FROM break');
  await refusedFor('breaks_resolved', broken('opened_day', `'2026-02-28'`), 'DELETE FROM break');
  await refusedFor(
    'fees_checked',
    broken('nsu', '2').replace('disputed', 'fee_mismatch'),
    'DELETE FROM break',
  );
  await refusedFor(
    'operations_known',
    `${succeededOperations({ account: '$account', id: `'${operationId}'::uuid` })};
     UPDATE operation SET state = 'unknown', ended_at = NULL, next_action_at = now(),
       created_at = '2026-02-20'
     WHERE id = '${operationId}'`,
    `DELETE FROM operation WHERE id = '${operationId}'`,
  );
  await addPayments(service.database.pool, account.id, [paymentId]);
  await refusedFor(
    'overdue_reviewed',
    `INSERT INTO expected_payment_total (account_id, expected_payment_id, paid_cents,
       reversed_cents, refunded_cents, unrefunded_cents, settlement, last_payment_day)
     VALUES ($account, '${paymentId}', 0, 0, 0, 0, 'open', '2026-02-15')`,
    'DELETE FROM expected_payment_total',
  );
  const csv = 'Código;Descrição;Natureza;Analítica\n1;Banco;Ativo;Sim\n2;Outros;Despesa;Sim';
  expect((await call('PUT', '/v1/chart-of-accounts', { csv, reason: 'início' })).status).toBe(200);
  const map = (entry: object) => {
    const entries = [{ contraCode: '2', ...entry }];
    return call('PUT', '/v1/journal-mapping', { bankCode: '1', entries, reason: 'início' });
  };
  expect((await map({ direction: 'debit' })).status).toBe(200);
  expect((await sign('prepare')).body).toMatchObject({
    code: 'month_not_ready',
    items: ['journal'],
  });
  expect(await itemOf('journal')).toMatchObject({ count: 2, amount: 60, mayBeAccepted: true });
  expect((await map({})).status).toBe(200);
  await closedDays.writeOutcomes(account.id, { nsu: 2n, state: 'pending' });
  expect((await sign('prepare')).body).toMatchObject({ items: ['lines_decided'] });
  await closedDays.writeOutcomes(account.id);
  expect((await read()).checklist.filter((one: { count: number }) => one.count > 0)).toEqual([]);
});

it('accepts breaks within the policy, or exactly those that a person accepted', async () => {
  const open = (id: string, cents: number) =>
    run(
      `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, nsu, evidence)
       VALUES ($1, $2::uuid, 'disputed', 'open', $2::text, $3, 2, '{}')`,
      ...[account.id, id, cents],
    );
  await open(breakId, 900);
  const policy = { maxBreaks: 1, maxBreakAmount: 9, maxPendingLines: 0, reason: 'de praxe' };
  const headers = newKeyHeader();
  const put = () => call('PUT', '/v1/month-policy', policy, headers);
  expect((await put()).body).toEqual((await put()).body);
  expect((await read('/v1/month-policy')).versions).toHaveLength(1);
  expect(await itemOf('breaks_resolved')).toMatchObject({ state: 'met', count: 1, amount: 9 });
  await open(paymentId, 100);
  const accept = (count: number, amount: number, item = 'breaks_resolved') =>
    call('POST', `${path}/acceptances`, { item, count, amount, reason: 'em contestação' });
  expect((await accept(1, 9)).body).toMatchObject({ code: 'month_changed' });
  expect((await accept(2, 10, 'operations_known')).body.code).toBe('nothing_to_accept');
  expect((await accept(2, 10)).status).toBe(200);
  expect((await accept(2, 10)).body.decisions).toHaveLength(1);
  expect(await itemOf('breaks_resolved')).toMatchObject({
    ...{ state: 'accepted', reason: 'em contestação' },
  });
  await run('UPDATE break SET amount_cents = 101 WHERE id = $1', paymentId);
  expect((await itemOf('breaks_resolved')).state).toBe('not_met');
  expect((await accept(2, 10.01)).status).toBe(200);
});

it('is closed by two of different roles, and by no other two', async () => {
  expect(await signAs('approver', 'approve')).toBe('month_not_prepared');
  expect((await sign('prepare', { figuresHash: 'a'.repeat(64) })).body.code).toBe('month_changed');
  // Keys prepare and approve, but not both: they are one role.
  expect((await sign('prepare')).body.state).toBe('prepared');
  expect((await sign('prepare')).body.decisions).toHaveLength(3);
  expect((await sign('approve')).body.code).toBe('own_request');
  const scopes = ['read', 'reconcile', 'approve'];
  const other = await operatorOf(() => service).createKey(slug, { scopes });
  const body = { as: 'approve', figuresHash: (await read()).figuresHash };
  const second = { body, apiKey: other.key, headers: newKeyHeader() };
  expect((await service.call('POST', `${path}/sign-offs`, second)).body.code).toBe('same_role');
  expect((await reopen()).body.state).toBe('open');
  expect(await signAs('viewer', 'prepare')).toBe('may_not_approve');
  expect(await signAs('approver', 'prepare')).toBe('prepared');
  expect(await signAs('approver', 'approve')).toBe('own_request');
  expect(await signAs('analyst', 'approve')).toBe('may_not_approve');
  expect(await signAs('analyst', 'prepare')).toBe('month_prepared');
  const closed = await Promise.all([signAs('admin', 'approve'), signAs('admin', 'approve')]);
  expect(closed).toEqual(['closed', 'closed']);
  expect((await sign('approve')).body.code).toBe('month_closed');
  const { closes, hash, revision, decisions } = await read();
  expect(revision).toBe(1);
  expect(closes.map(({ report }: { report: string }) => sha256(report))).toEqual([hash]);
  expect(JSON.parse(closes[0].report)).toMatchObject({
    ...{ month, figures: { closing: '157.20', lines: 3 }, amendments: { lines: 0 } },
    journal: { chartVersion: 1, mappingVersion: 2, lines: 3, cents: '6280' },
    signed: [{ role: 'approver' }, { role: 'admin' }],
  });
  expect(decisions.map(({ action }: { action: string }) => action).slice(2)).toEqual([
    ...['prepare', 'reopen', 'prepare', 'approve'],
  ]);
  expect(await eventsOf()).toMatchObject([{ type: 'month.closed', month, revision: 1, hash }]);
});

it('takes a late line and another outcome as amendments, and refuses neither', async () => {
  await closedDays.arrive(account.id, [...lines, late], ({ nsu }) => nsu === late.nsu);
  await closedDays.decide(account.id);
  await closedDays.close(account);
  await closedDays.writeOutcomes(account.id, { nsu: 1n, state: 'matched' });
  const amended = {
    ...{ lines: 2, balance: -0.7, outcomes: 10 },
    data: [
      {
        ...{ nsu: 1, date: '2026-02-02', effect: 10, fromState: 'classified', toState: 'matched' },
        ...{ fromLabel: 'accepted', toLabel: null },
      },
      { nsu: 4, date: '2026-02-20', effect: -0.7, fromState: null, toState: 'classified' },
    ],
  };
  const shown = await read();
  expect(shown).toMatchObject({ state: 'closed', revision: 1, closing: 156.5, lines: 4 });
  expect(shown.amendments).toMatchObject(amended);
  // They belong to the open month after it.
  expect((await read('/v1/months/2026-03')).amendments).toMatchObject(amended);
  expect((await read('/v1/months/2026-04')).amendments.lines).toBe(0);
  const sweeper = service.application.get(MonthSweeper, { strict: false });
  await Promise.all([sweeper.announce(), sweeper.announce()]);
  const announced = { type: 'month.amended', month, lines: 2, balance: -0.7, outcomes: 10 };
  expect((await eventsOf()).slice(1)).toEqual([{ ...announced, revision: 1 }]);
});

/** The subjects of the rule's alerts that are firing, after another evaluation. */
const overdue = async () => {
  await run('UPDATE alert_rule SET evaluated_at = NULL');
  await service.application.get(AlertEvaluator, { strict: false }).evaluate();
  const { data } = await read('/v1/alerts?state=firing&limit=500');
  return data.map(({ subject }: { subject: string }) => subject).sort();
};

it('is reopened with a reason, and closed again as the next revision', async () => {
  const rule = { name: 'Fechamento', condition: { kind: 'month_close_overdue', days: 5 } };
  expect((await call('POST', '/v1/alert-rules', rule)).status).toBe(201);
  const others = await overdue();
  expect(others[0]).toBe('month:2026-03');
  expect((await reopen('a')).status).toBe(400);
  expect((await reopen()).body).toMatchObject({ state: 'open', revision: null });
  expect((await reopen()).body.decisions.at(-1)).toMatchObject({ action: 'reopen' });
  expect(await overdue()).toEqual([`month:${month}`, ...others]);
  // What was accepted is still accepted.
  expect((await itemOf('breaks_resolved')).state).toBe('accepted');
  await run(
    `UPDATE break SET state = 'resolved', resolved_at = now() WHERE account_id = $1`,
    account.id,
  );
  expect(await signAs('analyst', 'prepare')).toBe('prepared');
  expect(await signAs('approver', 'approve')).toBe('closed');
  expect(await overdue()).toEqual(others);
  const { closes, amendments } = await read();
  expect(
    closes.map(({ revision, stands }: object & Record<string, unknown>) => [revision, stands]),
  ).toEqual([
    [1, false],
    [2, true],
  ]);
  expect(amendments).toMatchObject({ lines: 0, data: [] });
  expect((await eventsOf()).map(({ type }: { type: string }) => type)).toEqual([
    ...['month.closed', 'month.amended', 'month.reopened', 'month.closed'],
  ]);
});

it('is reopened, prepared and closed by people on its page', async () => {
  const page = `/console/accounts/${slug}/months/${month}`;
  const { viewer, analyst, approver, admin } = people;
  const send = async (person: SignedIn, action: string, fields: object) => {
    const shown = (await person.get(page)).text;
    const sent = Object.fromEntries(hiddenIn(shown, `${page}/${action}`));
    return person.submit(`${page}/${action}`, { ...sent, ...fields });
  };
  const shown = await viewer.get(page);
  expect(shown.status).toBe(200);
  expect(shown.text).toContain('Journal entries without an account');
  expect(shown.text).not.toContain(`action="${page}/`);
  expect((await viewer.get(`/console/accounts/${slug}/months`)).text).toContain(page);
  const code = () => codeOf(approver.secret);
  const reason = 'faltou uma nota';
  expect((await send(analyst, 'reopen', { reason })).status).toBe(403);
  expect((await send(approver, 'reopen', { reason, code: code() })).location).toBe(page);
  // What is open of the month is one click away, and what is open of other months is not there.
  await run(
    `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence, opened_day)
     SELECT ${account.id}, gen_random_uuid(), 'disputed', 'open', day, 100, '{}', day
     FROM unnest(ARRAY['${month}-20', '2026-11-20']) day`,
  );
  const [, link = ''] =
    /href="[^"]*\/(breaks\?state=open[^"]*)"/.exec((await viewer.get(page)).text) ?? [];
  const list = await viewer.get(`/console/accounts/${slug}/${link.replaceAll('&amp;', '&')}`);
  expect(list.text).toContain('Total: 1 ');
  await run(
    `UPDATE break SET state = 'resolved', resolution = 'accept', resolved_by = 'policy',
       resolved_at = now()
     WHERE account_id = ${account.id} AND kind = 'disputed'`,
  );
  expect((await send(analyst, 'prepare', {})).status).toBe(400);
  expect((await send(analyst, 'prepare', { seen: 'on' })).location).toBe(page);
  expect((await read()).state).toBe('prepared');
  expect((await send(admin, 'approve', { seen: 'on', figuresHash: 'a'.repeat(64) })).status).toBe(
    409,
  );
  expect((await send(approver, 'approve', { seen: 'on' })).location).toBe(page);
  expect(await read()).toMatchObject({ state: 'closed', revision: 3 });
});
