import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { listExportedLines } from '../../../src/reporting/exports/exports.queries.js';
import { parseJson } from '../../../src/platform/json/exact-json.js';
import {
  createRuleVersion,
  type RuleDefinition,
} from '../../../src/reconciliation/rules/rules.schema.js';
import { DeclaredPaymentsSetup } from '../../support/declared-payments-setup.js';
import { makeAllDue } from '../../support/reconciliation.js';
import { matchedByRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const acquirer = '11222333000181';
const anna = '11144477735';

/** The rule as a business system declares it. */
function declared(terms: object): RuleDefinition {
  const body = { priority: 10, reason: 'test', ...terms };
  return z.decode(createRuleVersion.body, parseJson(JSON.stringify(body)) as never);
}

describe('a rule that splits payments', () => {
  let service: ServiceDatabase;
  let account = 0;
  const setup = new RulesSetup(() => ({ ...service, accountId: account }));

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const created = await service.database.prisma.bankAccount.create({
      data: { slug: `p${account}`, goLiveAt: new Date(0) },
    });
    account = created.id;
  });

  const breaks = async () => {
    const { rows } = await setup.run(
      `SELECT kind, state::text, amount_cents::int AS cents FROM break
       WHERE account_id = $1 ORDER BY opened_at, id`,
      account,
    );
    return rows;
  };
  const settlements = async () => {
    const { rows } = await setup.run(
      `SELECT settlement::text, count(*)::int AS count FROM expected_payment_total
       WHERE account_id = $1 GROUP BY 1 ORDER BY 1`,
      account,
    );
    return Object.fromEntries(
      (rows as { settlement: string; count: number }[]).map((row) => [row.settlement, row.count]),
    );
  };
  const deadlines = async () => {
    const { rows } = await setup.run(
      `SELECT deadline FROM expected_payment_total
       WHERE account_id = $1 AND deadline IS NOT NULL ORDER BY 1`,
      account,
    );
    return (rows as { deadline: Date }[]).map(({ deadline }) => deadline.toISOString());
  };
  /** A sync has completed that began just now, when the bank's clock showed noon of this day. */
  const syncOn = async (day: string) => {
    await setup.run(
      `INSERT INTO statement_state (account_id, last_sync_started_at, clock_offset_ms)
       VALUES ($1, clock_timestamp(),
         round(extract(epoch FROM $2::timestamptz - clock_timestamp()) * 1000))
       ON CONFLICT (account_id) DO UPDATE
       SET last_sync_started_at = EXCLUDED.last_sync_started_at,
         clock_offset_ms = EXCLUDED.clock_offset_ms`,
      account,
      `${day}T15:00:00Z`,
    );
    await setup.decide();
  };

  describe('by net settlement', () => {
    const rule = declared({
      when: { isCredit: true, document: acquirer },
      then: {
        match: {
          by: ['document', 'amount', 'window'],
          window: { daysBefore: 0, daysAfter: 1 },
          netSettlement: { groupBy: 'day', fee: { percent: { min: 2.49, max: 2.51 } } },
        },
      },
    });
    const addSales = async (...cents: number[]) => {
      const ids: string[] = [];
      for (const each of cents)
        ids.push(await setup.addExpectedPayment({ cents: each, document: acquirer }));
      return ids;
    };

    it('is tried, matches one credit with all sales of a day, and is undone by a person', async () => {
      const ids = await addSales(10_000, 5_000, 2_000);
      await setup.addLine({ nsu: 1, cents: 16_575, document: acquirer, day: '2026-06-11' });
      await setup.decide();
      expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
      const ruleId = await setup.declareRule(rule);
      expect(await setup.runTrial(ruleId)).toMatchObject({
        matchedMore: { count: 1, nsus: [1n] },
        tolerated: { count: 0, amount: 0n },
        fees: { count: 3, amount: 425n },
      });
      await setup.activate(ruleId);
      await setup.decide();
      const parts = [9_750, 4_875, 1_950].map((cents, at) => matchedByRule(ids[at] ?? '', cents));
      expect(await setup.outcomes()).toEqual({ 1: parts.sort() });
      expect(await settlements()).toEqual({ settled: 3 });
      const { rows } = await setup.run(
        `SELECT amount_cents::int AS cents, owed_cents::int AS owed, evidence -> 'fee' AS fee
         FROM match WHERE account_id = $1 AND unlinked_at IS NULL ORDER BY amount_cents`,
        account,
      );
      expect(rows).toEqual([
        { cents: 1_950, owed: 1_950, fee: { cents: '50', lineCents: '425', sales: 3 } },
        { cents: 4_875, owed: 4_875, fee: { cents: '125', lineCents: '425', sales: 3 } },
        { cents: 9_750, owed: 9_750, fee: { cents: '250', lineCents: '425', sales: 3 } },
      ]);
      expect(await breaks()).toMatchObject([{ kind: 'unexpected', state: 'resolved' }]);
      await setup.unlink(1);
      for (const _ of ['once', 'twice']) await setup.decide();
      expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
      expect(await settlements()).toEqual({ open: 3 });
    });

    it('pays declared sales in full, and their events and the export have the fee', async () => {
      const elsewhere = new DeclaredPaymentsSetup(() => ({ ...service, accountId: account }));
      for (const [name, amount] of [
        ['sale-1', 100],
        ['sale-2', 50],
      ] as const)
        await elsewhere.declare(name, {
          ...{ direction: 'credit', amount, counterparty: { taxId: acquirer } },
        });
      await setup.activate(await setup.declareRule(rule));
      await setup.addLine({ nsu: 1, cents: 14_625, document: acquirer, day: '2026-06-12' });
      await setup.decide();
      expect(await settlements()).toEqual({ settled: 2 });
      expect((await setup.events()).filter(({ type }) => type.startsWith('expected'))).toEqual(
        [
          ['sale-1', 97.5, 2.5],
          ['sale-2', 48.75, 1.25],
        ].map(([externalId, amount, fee]) => ({
          type: 'expected_payment.paid',
          data: expect.objectContaining({ externalId, amount, fee, settlement: 'settled' }),
        })),
      );
      const exported = await listExportedLines(service.database.prisma, account, {
        ...{ from: new Date('2026-06-12'), until: new Date('2026-06-13'), arrival: 1_000n },
        ...{ afterNsu: 0n, lastNsu: 1n, limit: 10 },
      });
      expect(exported).toMatchObject([{ nsu: 1n, feeCents: 375n }]);
    });

    it('stands once its period is closed, whatever sale is recorded for the day later', async () => {
      const ids = await addSales(10_000);
      await setup.declareActiveRule(rule);
      await setup.addLine({ nsu: 1, cents: 9_750, document: acquirer });
      await setup.decide();
      const [late = ''] = await addSales(4_000);
      await makeAllDue(service.database, account);
      await setup.decide();
      expect(await setup.outcomes()).toEqual({ 1: ['unexpected'] });
      await setup.addLine({ nsu: 2, cents: 4_000, document: anna });
      await setup.decide();
      await setup.link(2, late);
      await setup.decide();
      const outcome = { 1: [matchedByRule(ids[0] ?? '', 9_750)], 2: [`manual ${late} 4000`] };
      expect(await setup.outcomes()).toEqual(outcome);
      await setup.closePeriodUntil('2026-06-20');
      await setup.decide();
      await addSales(700);
      await makeAllDue(service.database, account);
      await setup.decide();
      expect(await setup.outcomes()).toEqual(outcome);
      expect(await settlements()).toMatchObject({ settled: 2 });
    });

    it('counts all sales of a day, also those before the newest five thousand', async () => {
      const [old = ''] = await addSales(10_000);
      await setup.run(
        `INSERT INTO expected_payment (account_id, id, operation_id, kind, is_credit, amount_cents,
           is_multi_use, due_date, counterparty_document)
         SELECT account_id, gen_random_uuid(), operation_id, kind, true, 100, false, '2026-12-01',
           counterparty_document
         FROM expected_payment CROSS JOIN generate_series(1, 5001) WHERE id = $1`,
        old,
      );
      await setup.declareActiveRule(rule);
      await setup.addLine({ nsu: 1, cents: 9_750, document: acquirer });
      await setup.decide();
      expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(old, 9_750)] });
    }, 120_000);
  });

  describe('by instalments', () => {
    const rule = (instalments: object, tolerance = {}) =>
      declared({
        when: { isCredit: true },
        then: { match: { by: ['document', 'amount'], instalments, ...tolerance } },
      });
    const monthly = { count: 3, monthly: true, toleranceDays: 5 };

    it('is paid month by month, and reports an instalment once it is late', async () => {
      const id = await setup.addExpectedPayment({ cents: 10_000, document: anna });
      await setup.declareActiveRule(rule(monthly));
      await setup.addLine({ nsu: 1, cents: 3_333, document: anna, day: '2026-06-12' });
      await syncOn('2026-06-12');
      expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 3_333)] });
      expect(await breaks()).toEqual([]);
      expect(await settlements()).toEqual({ partially_settled: 1 });
      // The instalment of 10 July may come until the 15th.
      expect(await deadlines()).toEqual(['2026-07-17T03:00:00.000Z']);
      await syncOn('2026-07-16');
      expect(await breaks()).toEqual([]);
      await syncOn('2026-07-18');
      expect(await breaks()).toEqual([{ kind: 'underpaid', state: 'open', cents: 3_333 }]);
      await setup.addLine({ nsu: 2, cents: 3_334, document: anna, day: '2026-08-10' });
      await syncOn('2026-08-10');
      expect(await breaks()).toEqual([{ kind: 'underpaid', state: 'open', cents: 3_333 }]);
      await setup.addLine({ nsu: 3, cents: 3_333, document: anna, day: '2026-07-15' });
      await syncOn('2026-08-11');
      expect(await setup.outcomes()).toMatchObject({
        2: [matchedByRule(id, 3_334)],
        3: [matchedByRule(id, 3_333)],
      });
      expect(await breaks()).toMatchObject([{ kind: 'underpaid', state: 'resolved' }]);
      expect(await settlements()).toEqual({ settled: 1 });
    });

    it('goes on from those that are final', async () => {
      const id = await setup.addExpectedPayment({ cents: 10_000, document: anna });
      await setup.declareActiveRule(rule(monthly, { tolerance: { amount: 5 } }));
      await setup.addLine({ nsu: 1, cents: 3_400, document: anna, day: '2026-06-10' });
      await setup.decide();
      await setup.closePeriodUntil('2026-06-20');
      await setup.decide();
      await setup.addLine({ nsu: 2, cents: 3_333, document: anna, day: '2026-07-10' });
      await setup.decide();
      await setup.closePeriodUntil('2026-07-20');
      await setup.decide();
      await setup.addLine({ nsu: 3, cents: 3_334, document: anna, day: '2026-07-12' });
      await setup.addLine({ nsu: 4, cents: 3_334, document: anna, day: '2026-08-12' });
      await setup.decide();
      expect(await setup.outcomes()).toEqual({
        1: [matchedByRule(id, 3_400)],
        2: [matchedByRule(id, 3_333)],
        3: ['unexpected'],
        4: [matchedByRule(id, 3_334)],
      });
      expect(await settlements()).toEqual({ settled: 1 });
    });

    it('is undone by a person, who leaves the other instalments as they are', async () => {
      const id = await setup.addExpectedPayment({ cents: 9_000, document: anna });
      await setup.declareActiveRule(rule({ count: 3, intervalDays: 10 }));
      for (const [nsu, day] of [
        [1, '2026-06-10'],
        [2, '2026-06-20'],
      ] as const)
        await setup.addLine({ nsu, cents: 3_000, document: anna, day });
      await setup.decide();
      await setup.unlink(1);
      await setup.decide();
      expect(await setup.outcomes()).toEqual({
        1: ['unexpected'],
        2: [matchedByRule(id, 3_000)],
      });
    });
  });

  it('covers lines by a pattern of their notes', async () => {
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.declareActiveRule(
      declared({
        when: { notes: { matches: String.raw`^parcela \d+ de \d+$` } },
        then: { match: { by: ['document', 'amount'] } },
      }),
    );
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna, notes: 'outra parcela 1 de 3' });
    await setup.addLine({ nsu: 2, cents: 1_000, document: anna, notes: 'Parcela 1  DE 3' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['unexpected'], 2: [matchedByRule(id, 1_000)] });
  });
});
