// Expected payments without a line by their deadline. Each test writes the statement, charges and
// sent money of its own account, at the times that it tests.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { recordDueDateChange } from '../../../src/statement/expected-payments/due-dates.queries.js';
import { listExpectedPaymentRows } from '../../../src/reconciliation/api/transactions.queries.js';
import { loadSummary } from '../../../src/reconciliation/api/summary.queries.js';
import { SentMoneyFixture } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { chargeSettlement } from '../../../src/outbound/charges/charge-settlement.js';

// A Monday: payments that are due on it are missing from Wednesday on.
const monday = '2026-03-09';
const wednesday = '2026-03-11';
const withdrawAll = `INSERT INTO expected_payment_fact
    (account_id, expected_payment_id, kind, bank_time)
  SELECT account_id, id, 'rejected', now() FROM expected_payment WHERE withdrawn_at IS NULL`;

describe('a missing payment', () => {
  let service: ServiceDatabase;
  let money: SentMoneyFixture;
  let chargeCount: number;

  beforeAll(async () => {
    service = await serviceDatabase();
    money = new SentMoneyFixture(() => service);
    chargeCount = 0;
  });
  // Each test has an account of its own.
  beforeEach(async () => {
    const { id } = await service.database.prisma.bankAccount.create({
      data: { slug: `of-${randomUUID()}`, goLiveAt: new Date(0) },
    });
    service = { ...service, accountId: id };
  });
  afterAll(() => service.drop());

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const reconcile = () => money.reconcile();

  /** A sync has completed that began just now, when the bank's clock showed this time. */
  const syncAt = (bankTime: string) =>
    run(
      `INSERT INTO statement_state (account_id, last_sync_started_at, clock_offset_ms)
       VALUES ($1, clock_timestamp(),
         round(extract(epoch FROM $2::timestamptz - clock_timestamp()) * 1000))
       ON CONFLICT (account_id) DO UPDATE
       SET last_sync_started_at = EXCLUDED.last_sync_started_at,
         clock_offset_ms = EXCLUDED.clock_offset_ms`,
      service.accountId,
      bankTime,
    );
  const syncOn = (day: string) => syncAt(`${day}T12:00:00Z`);

  const charge = async (dueDate: string, change: { state?: string; isMultiUse?: boolean } = {}) => {
    const sent = await money.addOperation({
      kind: 'create_charge',
      state: change.state ?? 'succeeded',
    });
    chargeCount += 1;
    await run(
      `UPDATE expected_payment SET is_credit = true, due_date = $2, is_multi_use = $3
       WHERE id = $1`,
      sent.expectedPaymentId,
      dueDate,
      change.isMultiUse ?? false,
    );
    const correlationId = `order-${chargeCount}`;
    await run(
      `INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
         amount_cents)
       VALUES ($1, $2, $3, $4, 'BANKSLIP', 1000)`,
      service.accountId,
      correlationId,
      sent.operationId,
      sent.expectedPaymentId,
    );
    await money.addReferences(sent.expectedPaymentId, {
      kind: 'correlation_id',
      value: correlationId,
    });
    return { ...sent, correlationId };
  };
  const move = ({ expectedPaymentId }: { expectedPaymentId: string }, dueDate: string) =>
    service.database.transaction((tx) =>
      recordDueDateChange(tx, service.accountId, {
        ...{ expectedPaymentId, dueDate, operationId: null, possibleSince: null },
      }),
    );
  const setCharge = ({ correlationId }: { correlationId: string }, change: string) =>
    run(
      `UPDATE charge SET ${change} WHERE account_id = ${service.accountId} AND correlation_id = $1`,
      correlationId,
    );
  const pay = async ({ correlationId }: { correlationId: string }, nsu: number) => {
    await money.addLines({ nsu, isCredit: true });
    await run(`ALTER TABLE statement_line DISABLE TRIGGER USER`);
    await run(`UPDATE statement_line SET correlation_id = $1 WHERE nsu = $2`, correlationId, nsu);
    await run(`ALTER TABLE statement_line ENABLE TRIGGER USER`);
  };

  const breaks = async () => {
    const { rows } = await run(
      `SELECT expected_payment_id AS id, state, resolution FROM break
       WHERE account_id = $1 AND kind = 'missing' ORDER BY opened_at, id`,
      service.accountId,
    );
    return rows as { id: string; state: string; resolution: string | null }[];
  };
  const breakEvents = async () =>
    (
      await run(
        `SELECT type FROM event WHERE account_id = $1 AND type LIKE 'break.%' ORDER BY position`,
        service.accountId,
      )
    ).rows.map(({ type }) => type as string);

  it('opens one break with amount and deadline, and resolves it when the payment comes late', async () => {
    const late = await charge(monday);
    await charge(wednesday);
    await syncOn('2026-03-10');
    await reconcile();
    expect(await breaks()).toEqual([]);
    await syncOn(wednesday);
    await reconcile();
    await syncOn('2026-03-12');
    await reconcile();
    const { rows } = await run(
      `SELECT subject, amount_cents::int AS amount, evidence FROM break WHERE account_id = $1`,
      service.accountId,
    );
    expect(rows).toEqual([
      {
        subject: `expected_payment:${late.expectedPaymentId}`,
        amount: 1_000,
        evidence: {
          operationId: late.operationId,
          operationKind: 'create_charge',
          dueDate: monday,
          deadline: wednesday,
        },
      },
    ]);
    await pay(late, 1);
    await reconcile();
    expect(await breaks()).toMatchObject([{ state: 'resolved', resolution: 'automatic' }]);
    expect(await breakEvents()).toEqual(['break.opened', 'break.resolved']);
  });

  it('opens no break before a sync that began after the deadline', async () => {
    await charge(monday);
    await reconcile();
    await syncAt('2026-03-11T02:59:00Z');
    await reconcile();
    await syncOn(wednesday);
    await reconcile();
    expect(await breaks()).toHaveLength(1);
  });

  it('has its break resolved when the clock that said it was due was read wrongly', async () => {
    await charge(monday);
    await syncOn('2026-04-20');
    await reconcile();
    expect(await breaks()).toMatchObject([{ state: 'open' }]);
    await syncAt('2026-03-10T12:00:00Z');
    await reconcile();
    expect(await breaks()).toMatchObject([{ state: 'resolved', resolution: 'automatic' }]);
    await syncOn(wednesday);
    await reconcile();
    expect(await breaks()).toMatchObject([{ state: 'open' }]);
  });

  it('opens no break for cancelled, withdrawn, multi-use or possibly not existing charges', async () => {
    const [cancelled, withdrawn] = [await charge(monday), await charge(monday)];
    await setCharge(cancelled, 'cancelled_at = now()');
    await run(`${withdrawAll} AND id = $1`, withdrawn.expectedPaymentId);
    await charge(monday, { isMultiUse: true });
    await charge(monday, { state: 'needs_operator' });
    const expired = await charge(monday);
    await setCharge(expired, 'expired_at = now()');
    await syncOn(wednesday);
    await reconcile();
    expect(await breaks()).toMatchObject([{ id: expired.expectedPaymentId }]);
  });

  it.each([
    ['cancelled', () => run('UPDATE charge SET cancelled_at = now()')],
    ['withdrawn', () => run(withdrawAll)],
    [
      'given a later day by the bank',
      (one: { expectedPaymentId: string }) => move(one, '2026-04-01'),
    ],
  ])('has its break resolved when it is %s afterwards', async (_, change) => {
    const missing = await charge(monday);
    await syncOn(wednesday);
    await reconcile();
    await change(missing);
    await money.makeAllDue();
    await syncAt(`${wednesday}T12:02:00Z`);
    await reconcile();
    expect(await breaks()).toMatchObject([{ state: 'resolved', resolution: 'automatic' }]);
  });

  it('follows the due date of the bank, also when that is earlier or becomes known late', async () => {
    const later = await charge(monday);
    await move(later, '2026-03-16');
    const earlier = await charge('2026-06-01');
    await syncOn(wednesday);
    await reconcile();
    expect(await breaks()).toEqual([]);
    await move(earlier, monday);
    await money.makeAllDue();
    await syncAt(`${wednesday}T12:02:00Z`);
    await reconcile();
    expect(await breaks()).toMatchObject([{ id: earlier.expectedPaymentId }]);
    await syncOn('2026-03-18');
    await reconcile();
    expect((await breaks()).map(({ id }) => id)).toContain(later.expectedPaymentId);
  });

  it('is found when created, accepted or unlinked after the check of its due date', async () => {
    const paid = await charge(monday);
    await pay(paid, 1);
    const unknown = await charge(monday, { state: 'unknown' });
    await syncOn(wednesday);
    await reconcile();
    expect(await breaks()).toEqual([]);
    const created = await charge('2026-03-02');
    await money.setOperationState(unknown.operationId, 'succeeded');
    await money.unlink(1);
    await syncAt(`${wednesday}T12:02:00Z`);
    await reconcile();
    expect(new Set((await breaks()).map(({ id }) => id))).toEqual(
      new Set([created, unknown, paid].map(({ expectedPaymentId }) => expectedPaymentId)),
    );
  });

  it('stays resolved when a person resolved it', async () => {
    await charge(monday);
    await syncOn(wednesday);
    await reconcile();
    await run(
      `INSERT INTO break_history_entry (account_id, break_id, action, actor, reason, detail)
       SELECT account_id, id, 'accept', 'anna', 'paid in cash', '{"cents": "1000"}'
       FROM break WHERE account_id = $1`,
      service.accountId,
    );
    await money.makeAllDue();
    await reconcile();
    await money.makeAllDue();
    await reconcile();
    expect(await breaks()).toMatchObject([{ state: 'resolved', resolution: 'accept' }]);
  });

  it('of sent money gets its break an hour after acceptance, by the bank’s clock alone', async () => {
    const now = new Date();
    const minutesLater = (minutes: number) =>
      new Date(now.getTime() + minutes * 60_000).toISOString();
    const sent = await money.addOperation({ state: 'succeeded', transferState: 'accepted' });
    await money.addOperation({ state: 'succeeded', transferState: 'failed' });
    await money.addOperation({ state: 'unknown' });
    const paid = await money.addOperation({
      state: 'succeeded',
      references: [{ kind: 'external_id', value: 'paid' }],
    });
    await money.addLines({ nsu: 1, externalId: 'paid' });
    expect(paid.expectedPaymentId).not.toBe(sent.expectedPaymentId);
    await syncAt(minutesLater(55));
    await reconcile();
    expect(await breaks()).toEqual([]);
    await syncAt(minutesLater(65));
    await reconcile();
    expect(await breaks()).toMatchObject([{ id: sent.expectedPaymentId, state: 'open' }]);
    await run(
      `UPDATE transfer SET state = 'failed' WHERE expected_payment_id = $1`,
      sent.expectedPaymentId,
    );
    await money.makeAllDue();
    await syncAt(minutesLater(70));
    await reconcile();
    expect(await breaks()).toMatchObject([{ id: sent.expectedPaymentId, state: 'resolved' }]);
  });

  it('the summary counts no cancelled charge as open and no postponed charge as overdue', async () => {
    const count = async () => {
      const { open, overdue } = await loadSummary(
        service.database.prisma,
        service.accountId,
        '2026-06-10',
      );
      return [Number(open), Number(overdue)] as const;
    };
    const decide = async () => {
      await money.makeAllDue();
      await reconcile();
    };
    const [open, overdue] = await count();
    const ids = [
      await money.addCharge('late'),
      await money.addCharge('cancelled'),
      await money.addCharge('postponed'),
    ];
    await run(
      `UPDATE expected_payment SET due_date = '2026-06-01' WHERE id = ANY ($1::uuid[])`,
      ids,
    );
    await decide();
    expect(await count()).toEqual([open + 3, overdue + 3]);
    await run(`UPDATE charge SET cancelled_at = now() WHERE correlation_id = 'cancelled'`);
    await move({ expectedPaymentId: ids[2]! }, '2026-06-20');
    await decide();
    expect(await count()).toEqual([open + 2, overdue + 1]);
    const filters = { state: null, reference: null, operationId: null, afterId: null, limit: 100 };
    const rows = await listExpectedPaymentRows(service.database.prisma, service.accountId, {
      ...filters,
      today: '2026-06-10',
    });
    const stateOf = (id: string) => rows.find((row) => row.id === id)?.state;
    expect(ids.map(stateOf)).toEqual(['overdue', 'withdrawn', 'open']);
  });

  it.each([
    ['2026-06-07', 'open', 'open'],
    ['2026-06-08', 'open', 'open'],
    ['2026-06-09', 'overdue', 'expired'],
  ])(
    'on %s a charge due on Saturday, 2026-06-06, is %s, and %s as a charge',
    async (today, ...states) => {
      const id = await money.addCharge(`saturday ${today}`);
      await run(`UPDATE expected_payment SET due_date = '2026-06-06' WHERE id = $1`, id);
      await money.makeAllDue();
      await reconcile();
      const filters = {
        state: null,
        reference: null,
        operationId: null,
        afterId: null,
        limit: 100,
      };
      const { prisma } = service.database;
      const rows = await listExpectedPaymentRows(prisma, service.accountId, { ...filters, today });
      const charge = { dueDate: '2026-06-06', today, isCancelled: false, isExpired: false };
      const shown = chargeSettlement('open', charge);
      expect([rows.find((row) => row.id === id)?.state, shown]).toEqual(states);
    },
  );
});
