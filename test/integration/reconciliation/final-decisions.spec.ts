import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { failUnpaidBillPayment } from '../../../src/outbound/bill-payments/bill-payments.queries.js';
import { insertFacts } from '../../../src/statement/expected-payments/expected-payments.queries.js';
import {
  isAbsentFromPeriod,
  readStatementEvidence,
} from '../../../src/outbound/operations/evidence.queries.js';
import { listPolicyRefunds } from '../../../src/reconciliation/breaks/refund-policies.queries.js';
import { eraseLine } from '../../../src/statement/lines/line-erasure.queries.js';
import { matchRule, matchedByRule, RulesSetup } from '../../support/rules-setup.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { withoutTriggers } from '../../support/parent-rows.js';
import { makeAllDue } from '../../support/reconciliation.js';

const anna = '11144477735';

describe('a decision of a rule becomes final', () => {
  let service: ServiceDatabase;
  let account = 0;
  const setup = new RulesSetup(() => ({ ...service, accountId: account }));
  const sent = new SentMoneyFixture(() => ({ ...service, accountId: account }));
  const payment = { cents: 1_000, document: anna };
  const matched = (id: string) => [matchedByRule(id, 1_000)];
  /** The lines whose decision by a rule is provisional. */
  const provisional = async () => {
    const { rows } = await setup.run(
      `SELECT nsu::int FROM match WHERE account_id = $1 AND rule = 'declared'
         AND unlinked_at IS NULL AND final_at IS NULL
       UNION SELECT nsu::int FROM classification
       WHERE account_id = $1 AND rule = 'declared' AND final_at IS NULL ORDER BY 1`,
      account,
    );
    return rows.map(({ nsu }) => nsu as number);
  };

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    const created = await service.database.prisma.bankAccount.create({
      data: { slug: `s${account}`, goLiveAt: new Date(0) },
    });
    account = created.id;
  });

  it('also when the period is closed while a batch begins', async () => {
    await setup.addExpectedPayment(payment);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    const blocker = await service.database.pool.connect();
    await blocker.query('BEGIN');
    // The batch has read the closed period, and is about to list the new lines.
    await blocker.query('LOCK TABLE statement_line IN ACCESS EXCLUSIVE MODE');
    const batch = setup.decide();
    for (let waits = false; !waits; await sleep(20)) {
      const { rows } = await blocker.query('SELECT FROM pg_locks WHERE NOT granted');
      waits = rows.length > 0;
    }
    await setup.closePeriodUntil('2026-06-20');
    await blocker.query('COMMIT');
    blocker.release();
    await batch;
    for (const _ of ['once', 'twice']) await setup.decide();
    expect(await provisional()).toEqual([]);
  });

  it('with the next batch, when a person unlinked the line from a final match', async () => {
    const id = await setup.addExpectedPayment(payment);
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    expect(await provisional()).toEqual([]);
    const next = await setup.addExpectedPayment(payment);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id) });
    await setup.unlink(1);
    for (const _ of ['once', 'twice']) await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(next) });
    expect(await provisional()).toEqual([]);
  });

  it('also when its line was erased before', async () => {
    const id = await setup.addExpectedPayment(payment);
    const operation = await service.database.prisma.operation.findFirstOrThrow({
      where: { accountId: account, expectedPayments: { some: { id } } },
    });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.decide();
    await setup.run(
      `UPDATE operation SET state = 'unknown', ended_at = NULL, next_action_at = now()
       WHERE id = $1`,
      operation.id,
    );
    await setup.closePeriodUntil('2026-06-20');
    await service.database.transaction((tx) => eraseLine(tx, account, 1n, 'asked'));
    for (const _ of ['once', 'twice']) await setup.decide();
    await setup.closePeriodUntil('2026-06-25');
    await makeAllDue(service.database, account);
    for (const _ of ['once', 'twice']) await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id) });
    expect(await provisional()).toEqual([]);
    const evidence = await readStatementEvidence(service.database.prisma, operation);
    expect(evidence).toMatchObject({ matched: [id] });
  });

  it('before its payment can be proven absent', async () => {
    const { operationId, expectedPaymentId } = await sent.addOperation({
      references: [{ kind: 'external_id', value: 'ORDER1234' }],
    });
    await setup.declareActiveRule(
      matchRule({ by: ['notes', 'amount'], tolerance: { amount: 50n } as never }),
    );
    await setup.addLine({
      nsu: 1,
      cents: 999,
      isCredit: false,
      typeName: 'DEBIT_PIX',
      notes: 'ORDER1234',
    });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(expectedPaymentId, 999)] });
    await setup.closePeriodUntil('2026-06-20');
    const db = service.database.prisma;
    const ref = { accountId: account, id: operationId };
    const period = { from: new Date('2026-06-01'), until: new Date('2026-06-20') };
    const proof = async () => {
      const { partlyMatched, unmatched } = await readStatementEvidence(db, ref);
      return partlyMatched.length === 0 && (await isAbsentFromPeriod(db, ref, period, unmatched));
    };
    const before = await proof();
    await setup.decide();
    expect([before, await proof()]).toEqual([false, false]);
  });

  it('before a policy refunds its line', async () => {
    const id = await setup.addExpectedPayment(payment);
    await setup.run(
      `INSERT INTO refund_policy (account_id, break_kind, is_on, changed_by, reason, changed_at)
       VALUES ($1, 'overpaid', true, 'key', 'test', now() - interval '1 hour')`,
      account,
    );
    await setup.declareActiveRule(
      matchRule({ by: ['document', 'window'], window: { daysBefore: 5, daysAfter: 5 } }),
    );
    await setup.addLine({ nsu: 1, cents: 1_500, document: anna, endToEndId: 'E1' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 1_500), 'overpaid'] });
    await setup.closePeriodUntil('2026-06-20');
    await setup.addExpectedPayment({ ...payment, cents: 1_500 });
    const refunds = await listPolicyRefunds(service.database.prisma, account, 10);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    expect(refunds).toEqual([]);
  });

  it('before its line proves that a bill was not paid', async () => {
    const { operationId, expectedPaymentId } = await sent.addOperation({
      kind: 'pay_bill',
      state: 'succeeded',
    });
    await setup.run(
      `INSERT INTO bill_payment (account_id, id, bar_code, amount_cents, state, scheduled_for,
         may_go_until, expected_payment_id, next_check_at)
       VALUES ($1, $2, '1', 1000, 'scheduled', '2026-06-10T12:00Z', '2026-06-11T00:00Z', $3,
         now())`,
      account,
      operationId,
      expectedPaymentId,
    );
    await setup.declareActiveRule(
      matchRule({ by: ['notes', 'amount'], tolerance: { amount: 50n } as never }),
    );
    const order = [{ kind: 'external_id', value: 'ORDER1234' }] as const;
    const first = await sent.addOperation({
      state: 'succeeded',
      amountCents: 1_010,
      references: [...order],
    });
    await setup.addLine({
      nsu: 1,
      cents: 1_000,
      isCredit: false,
      typeName: 'DEBIT_PIX',
      notes: 'ORDER1234',
    });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(first.expectedPaymentId, 1_000)] });
    await setup.closePeriodUntil('2026-06-20');
    // Another transfer with the id: the debit of R$ 10.00 is explained no longer.
    await sent.addOperation({ state: 'succeeded', amountCents: 1_020, references: [...order] });
    const undo = new Error('undo');
    let failed: unknown;
    const evidence = { bankStatus: 'PENDING_PAYMENT', closedForMs: 0 };
    const check = () =>
      service.database
        .transaction(async (tx) => {
          failed = await failUnpaidBillPayment(
            tx,
            { accountId: account, id: operationId },
            evidence,
          );
          throw undo;
        })
        .catch((error: unknown) => {
          if (error !== undo) throw error;
        });
    await check();
    const before = failed;
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'] });
    await check();
    expect([before, failed]).toEqual([null, null]);
  });

  it.each([
    ['in one batch', 1],
    ['in two batches', 1_000],
  ])('when everything that is due is decided, %s', async (_, copies) => {
    const id = await setup.addExpectedPayment(payment);
    const other = await setup.addExpectedPayment({ cents: 1_000, correlationId: 'OTHER' });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.addLine({ ...payment, nsu: 2, correlationId: 'OTHER' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id), 2: [`reference ${other} 1000`] });
    await setup.run(
      `INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
       SELECT $1, 'payment', $2 FROM generate_series(1, $3)`,
      account,
      id,
      copies,
    );
    const { operationId } = await service.database.prisma.expectedPayment.findFirstOrThrow({
      where: { id: other },
    });
    // The bank rejected the other charge: its line pays it no longer, and competes.
    await service.database.transaction((tx) =>
      insertFacts(tx, account, { operationIds: [operationId ?? ''] }, 'rejected'),
    );
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: ['ambiguous'], 2: ['ambiguous'] });
  });

  it('when no line of the period is pending', async () => {
    const id = await setup.addExpectedPayment(payment);
    await sent.addOperation({
      state: 'succeeded',
      references: [{ kind: 'end_to_end_id', value: 'ESENT' }],
    });
    await setup.declareActiveRule(matchRule({}));
    await setup.addLine({ ...payment, nsu: 1 });
    await setup.addLine({ ...payment, nsu: 2, typeName: 'CREDIT_TED', endToEndId: 'ESENT' });
    // A fee is a debit, with which no credit competes.
    await setup.addLine({ nsu: 3, cents: 1, isCredit: false, typeName: 'DEBIT_FEE' });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: matched(id), 2: [], 3: ['fee'] });
    expect(await provisional()).toEqual([1, 3]);
    await setup.closePeriodUntil('2026-06-20');
    for (const _ of ['once', 'twice']) {
      await makeAllDue(service.database, account);
      await setup.decide();
    }
    const waiting = await setup.run(
      `SELECT FROM reconciliation_task WHERE account_id = $1 AND kind = 'period'`,
      account,
    );
    expect(waiting.rowCount).toBe(1);
    expect(await provisional()).toEqual([1]);
    // The visibility bound passes.
    const earlier = `UPDATE statement_line SET recorded_at = now() - interval '1 minute'
      WHERE account_id = ${account}`;
    await withoutTriggers(service.database.pool, async (client) => {
      await client.query(earlier);
    });
    await setup.run('UPDATE reconciliation_task SET due_at = now() WHERE account_id = $1', account);
    await setup.decide();
    expect(await setup.outcomes()).toMatchObject({ 1: ['ambiguous'], 2: ['ambiguous'] });
  });

  it('and pays a cancelled charge only if no rule finds another', async () => {
    const cancelled = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    const live = await setup.addExpectedPayment({
      cents: 1_000,
      document: anna,
      dueDate: '2026-08-01',
    });
    await setup.declareActiveRule(
      matchRule({
        by: ['document', 'amount', 'window'],
        window: { daysBefore: 5, daysAfter: 5 },
      }),
    );
    await setup.declareActiveRule({ ...matchRule({}), priority: 20 });
    await setup.addCancelledCharge(cancelled, '2026-06-15');
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(live, 1_000)] });
  });
});
