// The pages of rules: the list in order, the builder, trials with their differences, and who may
// do what.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Operators } from '../../../src/access/people/operators.service.js';
import type { PersonRole } from '../../../src/access/people/roles.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import {
  csrfOf,
  signedInPerson,
  type VisitedPage,
  type SignedIn,
} from '../../support/console-visitor.js';
import { until } from '../../support/until.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

type Field = readonly [name: string, value: string];

const hostile = '<script>alert(1)</script> ‮"><img src=x onerror=alert(1)> 😀';
const payer = { name: 'Ana', document: '11144477735' };

describe('the pages of rules', () => {
  let service: ServiceApplication;
  let accountId: number;
  let analyst: SignedIn;
  let viewer: SignedIn;

  const rows = async <Row>(sql: string, ...values: unknown[]) =>
    (await service.database.pool.query(sql, values)).rows as Row[];
  const person = (email: string, role: PersonRole) =>
    signedInPerson(service, email, { accountId, role });
  const at = (path: string) => `/console/accounts/main/rules${path}`;
  /** A form may have several fields of one name. */
  const submit = async (
    visitor: SignedIn,
    path: string,
    fields: readonly Field[],
    headers: Record<string, string> = {},
  ) => {
    const csrf = csrfOf((await visitor.get('/console/nowhere')).text);
    return visitor.send(path, {
      method: 'POST',
      body: new URLSearchParams([['csrf', csrf], ...fields] as [string, string][]),
      headers: { origin: service.url, ...headers },
    });
  };
  const condition = (kind: string, value: string): Field[] => [
    ['condition', kind],
    ['value', value],
  ];
  const classifying = (name: string, conditions: Field[], category = 'fee'): Field[] => [
    ['name', name],
    ['priority', '10'],
    ['reason', 'the bank began to charge it'],
    ...conditions,
    ['action', 'classify'],
    ['category', category],
    ['categoryReason', 'Charged by the bank'],
  ];
  const idIn = ({ location }: VisitedPage) => location?.split('/')[5] ?? '';
  const trialIn = ({ location }: VisitedPage) => location?.split('/').at(-1) ?? '';
  const declare = async (fields: Field[]) => {
    const page = await submit(analyst, at('/new'), fields);
    expect([page.status, page.text]).toEqual([303, '']);
    return idIn(page);
  };
  /** The answer that leads to the trial, or the one that refuses to start it. */
  const tryVersion = async (ruleId: string, version = '1', more: Field[] = []) => {
    const started = await submit(analyst, at(`/${ruleId}/try`), [['version', version], ...more]);
    if (started.status !== 303) return started;
    return until('the trial ends', async () => {
      const page = await analyst.get(started.location!);
      return page.status === 303 && page;
    });
  };
  const activate = (visitor: SignedIn, ruleId: string, trialId: string, version = '1') =>
    submit(visitor, at(`/${ruleId}/activate`), [
      ['version', version],
      ['shown', trialId],
      ['reason', 'the trial shows what the bookkeeper does'],
    ]);
  const reconcile = async () => {
    await service.application.get(StatementSync, { strict: false }).sync(accountId);
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId });
  };
  const post = (body: object) => service.sandbox.call('POST', '/sandbox/transactions', { body });
  const lastNsu = async () =>
    (await rows<{ nsu: string }>('SELECT max(nsu)::text AS nsu FROM statement_line'))[0]!.nsu;
  const stateOf = async (nsu: string) =>
    (
      await rows<{ state: string }>(
        'SELECT state::text FROM line_outcome WHERE account_id = $1 AND nsu = $2',
        accountId,
        nsu,
      )
    )[0]?.state;
  const auditOf = async (action: string) =>
    rows<{ subject: string; shown: string | null; reason: string | null }>(
      'SELECT subject, shown, reason FROM audit_entry WHERE action = $1 ORDER BY id DESC',
      action,
    );

  beforeAll(async () => {
    service = await serviceApplication();
    const operators = service.application.get(Operators, { strict: false });
    accountId = (await operators.findAccountId('main')) ?? 0;
    analyst = await person('analyst@example.com', 'analyst');
    viewer = await person('viewer@example.com', 'viewer');
  }, 60_000);
  afterAll(() => service.stop());

  it('lists them in the order of application, in words of both languages', async () => {
    const { status, text } = await viewer.get(at(''));
    expect(status).toBe(200);
    expect(text).toContain('Bank fees');
    expect(text).toContain('are classified as fee: The bank charged for its services.');
    expect(text).not.toContain('/rules/new');
    const portuguese = await viewer.get(at(''), { 'accept-language': 'pt-BR' });
    expect(portuguese.text).toContain('Débitos de tipo que começa com “DEBIT_FEE”, “FEE”');
    expect(portuguese.text).toContain('são classificados como taxa: O banco cobrou por seus');
    expect(portuguese.text).not.toContain('Bank fees');
    expect((await viewer.get(at('?all=true'))).text).toContain('Created with the account');
  });

  it('leads a rule from a line over its trial to its activation', async () => {
    await post({ amount: 12.9, isCredit: false, typeName: 'DEBIT_MONTHLY', notes: hostile });
    await reconcile();
    const nsu = await lastNsu();
    expect(await stateOf(nsu)).toBe('in_break');
    const builder = await analyst.get(at(`/new?line=${nsu}`));
    expect(builder.text).toContain('DEBIT_MONTHLY');
    expect(builder.text).not.toMatch(/<script>alert|<img src=x/);
    const ruleId = await declare(
      classifying('Monthly fee', [
        ...condition('debit', ''),
        ...condition('type', 'DEBIT_MONTHLY'),
      ]),
    );
    expect((await analyst.get(at(`/${ruleId}`))).text).toContain(
      'Debits of the type “DEBIT_MONTHLY” are classified as fee: Charged by the bank.',
    );
    const tried = await tryVersion(ruleId);
    expect(tried.status).toBe(303);
    const trial = await analyst.get(tried.location!);
    expect(trial.text).toContain('Newly classified');
    expect(trial.text).toContain(`/console/accounts/main/statement/${nsu}`);
    expect(trial.text).toMatch(/Break: Unrequested debit[\s\S]*Classified: Fee/);
    expect(await stateOf(nsu)).toBe('in_break');
    const done = await activate(analyst, ruleId, trialIn(tried));
    expect([done.status, done.location]).toEqual([303, at(`/${ruleId}`)]);
    await reconcile();
    expect(await stateOf(nsu)).toBe('classified');
    expect(await auditOf('activate rule')).toEqual([
      {
        ...{ subject: `rule ${ruleId}`, shown: trialIn(tried) },
        reason: 'the trial shows what the bookkeeper does',
      },
    ]);
    expect((await analyst.get(at(`/${ruleId}`))).text).toContain('analyst@example.com');
  });

  it('refuses to activate anything but what the newest trial showed', async () => {
    const ruleId = await declare(classifying('Refused', condition('type', 'DEBIT_OTHER')));
    const [first, second] = [await tryVersion(ruleId), await tryVersion(ruleId)];
    const outdated = await activate(analyst, ruleId, trialIn(first));
    expect(outdated.status).toBe(409);
    expect(outdated.text).toContain('Nothing was activated');
    const other = await declare(classifying('Meanwhile', condition('type', 'DEBIT_ELSE')));
    await activate(analyst, other, trialIn(await tryVersion(other)));
    expect((await activate(analyst, ruleId, trialIn(second))).status).toBe(409);
    expect((await activate(analyst, ruleId, '')).status).toBe(409);
    expect((await auditOf('refused')).length).toBeGreaterThanOrEqual(3);
    expect((await analyst.get(first.location!)).text).toContain('Only the newest');
  });

  it('shows a new version with its differences, and the lines that it decides otherwise', async () => {
    await post({ amount: 3, isCredit: false, typeName: 'DEBIT_SMALL' });
    await reconcile();
    const nsu = await lastNsu();
    const ruleId = await declare(classifying('Small', condition('type', 'DEBIT_SMALL')));
    await activate(analyst, ruleId, trialIn(await tryVersion(ruleId)));
    await reconcile();
    const form = await analyst.get(at(`/${ruleId}/edit?version=1`));
    expect(form.text).toContain('value="DEBIT_SMALL"');
    const conditions = [...condition('type', 'DEBIT_SMALL'), ...condition('amountTo', '5,00')];
    const added = await submit(
      analyst,
      at(`/${ruleId}/versions`),
      classifying('Small', conditions, 'tariff'),
    );
    expect(added.status).toBe(303);
    const detail = await viewer.get(at(`/${ruleId}`));
    expect(detail.text).toContain('<del>(no condition)</del>');
    expect(detail.text.replaceAll('\u00a0', ' ')).toContain('<ins>of up to R$ 5,00</ins>');
    const trial = await analyst.get((await tryVersion(ruleId, '2')).location!);
    expect(trial.text).toContain('Decided otherwise');
    expect(trial.text).toMatch(new RegExp(`${nsu}[\\s\\S]*Classified: Fee[\\s\\S]*Tariff`));
  });

  it('matches expected payments, and links them from the differences', async () => {
    const { body } = await service.call('POST', '/v1/expected-payments', {
      body: {
        ...{ externalId: 'order-1', direction: 'credit', amount: 77.1 },
        ...{ dateFrom: '2020-01-01', dateTo: '2020-01-01' },
        counterparty: { taxId: payer.document },
      },
    });
    await service.sandbox.call('POST', '/sandbox/pix/received', { body: { amount: 50, payer } });
    await reconcile();
    const nsu = await lastNsu();
    const builder = await analyst.get(at(`/new?line=${nsu}`));
    expect(builder.text).toContain(payer.document);
    const ruleId = await declare([
      ...([
        ['name', 'Anna'],
        ['priority', '20'],
        ['reason', 'no order number'],
      ] as Field[]),
      ...condition('document', '111.444.777-35'),
      ...([
        ['action', 'match'],
        ['by', 'document'],
        ['by', 'amount'],
        ['parts', 'instalments'],
      ] as Field[]),
    ]);
    const masked = await viewer.get(at(`/${ruleId}`));
    expect(masked.text).toContain('***.444.777-**');
    expect(masked.text).not.toMatch(/111\.444\.777-35|11144477735/);
    expect((await analyst.get(at(`/${ruleId}`))).text).toContain('111.444.777-35');
    expect(body.id).toEqual(expect.any(String));
    expect((await tryVersion(ruleId)).status).toBe(303);
  });

  it('shows each wrong field with its error, and stores nothing', async () => {
    const fields = [
      ...classifying('', [
        ...condition('document', '123'),
        ...condition('notesMatch', '(\\w{100}){10}'),
        ...condition('notesContain', hostile),
      ]),
    ];
    const [before] = await rows<{ count: string }>('SELECT count(*) FROM rule');
    const refused = await submit(analyst, at('/new'), fields);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('Must be a CPF or a CNPJ.');
    expect(refused.text).toContain('Repeats too much');
    expect(refused.text).toContain('The field is required.');
    expect(refused.text).not.toMatch(/<script>alert|<img src=x/);
    const portuguese = await submit(analyst, at('/new'), fields, { 'accept-language': 'pt' });
    expect(portuguese.text).toContain('Precisa ser um CPF/CNPJ válido.');
    const invalid = classifying('x', condition('notesMatch', '('));
    expect((await submit(analyst, at('/new'), invalid)).text).toContain(
      'a valid pattern (RE2 syntax)',
    );
    const taken = await submit(
      analyst,
      at('/new'),
      classifying('Bank fees', condition('debit', '')),
    );
    expect([taken.status, taken.text.includes('A rule with this name already exists.')]).toEqual([
      400,
      true,
    ]);
    expect(await rows('SELECT count(*) FROM rule')).toEqual([before]);
  });

  it('adds and removes conditions without JavaScript, and says the sentence as it is built', async () => {
    const fields = classifying('Built', [...condition('type', 'ONE'), ...condition('type', 'TWO')]);
    const countRows = ({ text }: VisitedPage) => text.split('name="condition"').length - 1;
    const preview = (more: Field[], headers = {}) =>
      submit(analyst, at('/preview'), [...fields, ...more], headers);
    expect(countRows(await preview([['do', 'add']]))).toBe(3);
    const removed = await preview([['do', 'remove 0']]);
    expect(removed.text).toContain('value="TWO"');
    expect(removed.text).not.toContain('value="ONE"');
    const part = await preview([], { 'hx-request': 'true' });
    expect(part.text).toMatch(/^<div id="rule-sentence"/);
    expect(part.text).toContain('Lines of the type “ONE” or “TWO” are classified as fee');
  });

  it('creates a draft where the priority of a version is changed', async () => {
    const ruleId = await declare(classifying('Moved', condition('type', 'DEBIT_MOVED')));
    const reorder = (priority: string) =>
      submit(analyst, at(`/${ruleId}/reorder`), [
        ['version', '1'],
        ['priority', priority],
        ['reason', 'before the others'],
      ]);
    expect((await reorder('5')).status).toBe(303);
    expect((await reorder('100001')).status).toBe(400);
    expect(
      await rows('SELECT version, priority FROM rule_version WHERE rule_id = $1', ruleId),
    ).toEqual([
      { version: 1, priority: 10 },
      { version: 2, priority: 5 },
    ]);
    const retired = await submit(analyst, at(`/${ruleId}/retire`), [
      ['version', '2'],
      ['reason', 'not needed'],
    ]);
    expect(retired.status).toBe(303);
    expect((await analyst.get(at(`/${ruleId}`))).text).toContain('Version 2 retired');
  });

  it('asks again for a period that is not valid', async () => {
    const ruleId = await declare(classifying('Period', condition('type', 'DEBIT_PERIOD')));
    const wrong = await tryVersion(ruleId, '1', [
      ['from', '2026-02-30'],
      ['to', ''],
    ]);
    expect([wrong.status, wrong.text.includes('The period is not valid')]).toEqual([400, true]);
    const turned = await tryVersion(ruleId, '1', [
      ['from', '2026-03-01'],
      ['to', '2026-02-01'],
    ]);
    expect(turned.status).toBe(400);
  });

  it('shows how far a trial is, one at a time, and what ended it', async () => {
    const ruleId = await declare(classifying('Slow', condition('type', 'DEBIT_SLOW')));
    const run = '01900000-0000-7000-8000-000000000001';
    await rows(
      `INSERT INTO rule_trial_run (account_id, id, rule_id, version, lines)
       VALUES ($1, $2, $3, 1, 12345)`,
      ...[accountId, run, ruleId],
    );
    const running = await viewer.get(at(`/${ruleId}/runs/${run}`));
    expect(running.text).toContain('12.345 lines read so far');
    const second = await tryVersion(ruleId);
    expect([second.status, second.text.includes('Another trial')]).toEqual([409, true]);
    const set = (change: string) =>
      rows(`UPDATE rule_trial_run SET ${change} WHERE id = $1 RETURNING id`, run);
    await set(`updated_at = updated_at - interval '3 minutes'`);
    const lost = await viewer.get(at(`/${ruleId}/runs/${run}`));
    expect([lost.status, lost.text.includes('was interrupted')]).toEqual([400, true]);
    expect((await tryVersion(ruleId)).status).toBe(303);
    await set(`problem = 'period_too_long'`);
    const refused = await viewer.get(at(`/${ruleId}/runs/${run}`));
    expect(refused.text).toContain('too many lines without an outcome');
  });

  it('lets a viewer change nothing, and shows rules of the account alone', async () => {
    const ruleId = await declare(classifying('Guarded', condition('type', 'DEBIT_G')));
    const trialId = trialIn(await tryVersion(ruleId));
    for (const [path, fields] of [
      ['/new', classifying('By viewer', condition('debit', ''))],
      ['/preview', []],
      [`/${ruleId}/versions`, classifying('Guarded', condition('debit', ''))],
      [`/${ruleId}/try`, [['version', '1']]],
      [`/${ruleId}/retire`, [['version', '1']]],
      [`/${ruleId}/reorder`, [['version', '1']]],
    ] as [string, Field[]][])
      expect([path, (await submit(viewer, at(path), fields)).status]).toEqual([path, 403]);
    expect((await activate(viewer, ruleId, trialId)).status).toBe(403);
    expect((await viewer.get(at('/new'))).status).toBe(403);
    const seen = await viewer.get(at(`/${ruleId}/trials/${trialId}`));
    expect([seen.status, seen.text.includes('name="shown"')]).toEqual([200, false]);
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const path of [`/${unknown}`, '/no-uuid', `/${ruleId}/trials/${unknown}`, '/new?line=x'])
      expect([path, (await analyst.get(at(path))).status]).toEqual([path, 404]);
  });
});
