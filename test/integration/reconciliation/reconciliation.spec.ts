import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconciliationOn } from '../../support/reconciliation.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { succeededOperations } from '../../support/parent-rows.js';
import { recordedQueues } from '../../support/recorded-queues.js';

const goLiveAt = new Date('2026-01-01T00:00:00Z');

describe('reconciliation', () => {
  let service: ServiceDatabase;
  let enqueuedJobs: unknown[];

  beforeEach(async () => {
    service = await serviceDatabase(goLiveAt);
    enqueuedJobs = [];
  });
  afterEach(() => service.drop());

  const run = (sql: string, ...values: unknown[]) => service.database.pool.query(sql, values);
  const reconcile = () => {
    const queueOf = recordedQueues((...job) => enqueuedJobs.push(job));
    return reconciliationOn(service.database, queueOf, { goLiveAt }).reconciliation.reconcile({
      accountId: service.accountId,
    });
  };

  /** Charges order-1 … order-n of R$ 10.00, each with its operation and expected payment. */
  const expectCharges = async (count: number) => {
    await run(
      `WITH o AS (
         ${succeededOperations({ id: "md5('o' || n)::uuid" }, 'generate_series(1, $2::int) n')}
       ), e AS (
         INSERT INTO expected_payment
           (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use)
         SELECT $1, md5('e' || n)::uuid, md5('o' || n)::uuid, 'create_charge', true, 1000, false
         FROM generate_series(1, $2::int) n
       ), r AS (
         INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
         SELECT $1, 'correlation_id', 'order-' || n, md5('e' || n)::uuid
         FROM generate_series(1, $2::int) n
       )
       INSERT INTO charge
         (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents)
       SELECT $1, 'order-' || n, md5('o' || n)::uuid, md5('e' || n)::uuid, 'BANKSLIP', 1000
       FROM generate_series(1, $2::int) n`,
      service.accountId,
      count,
    );
  };

  /** Adds the lines `from` to `to`, each of R$ 10.00. Line n references charge order-n. */
  const addLines = async (
    from: number,
    to: number,
    at = '2026-02-01T00:00:00Z',
    prefix = 'order-',
  ) => {
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         correlation_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
         content)
       SELECT $1, n, n, true, 1000, 'CREDIT_PIX', $5 || n, 0, 0,
         $4::timestamptz + n * interval '1 second', 'h', '{}'
       FROM generate_series($2::int, $3::int) n`,
      service.accountId,
      from,
      to,
      at,
      prefix,
    );
  };

  const countResults = async () =>
    (
      await run(
        `SELECT (SELECT count(*)::int FROM match) AS matched,
                (SELECT count(*)::int FROM classification) AS classified,
                (SELECT count(*)::int FROM break) AS broken,
                (SELECT count(*)::int FROM event WHERE type = 'charge.paid') AS paid,
                (SELECT count(*)::int FROM event
                 WHERE type = 'transaction.unexpected') AS unexpected,
                (SELECT count(*)::int FROM event WHERE type NOT LIKE 'break.%') AS events,
                (SELECT decided_arrival::int FROM reconciliation_state) AS decided`,
      )
    ).rows[0] as Record<string, number | null>;

  /** Lines with no outcome or with several. */
  const wronglyDecided = async () =>
    (
      await run(
        `SELECT t.nsu FROM statement_line t WHERE 1 <>
           (SELECT count(*) FROM match m WHERE m.account_id = t.account_id AND m.nsu = t.nsu)
           + (SELECT count(*) FROM classification c
              WHERE c.account_id = t.account_id AND c.nsu = t.nsu)
           + (SELECT count(*) FROM break b WHERE b.account_id = t.account_id AND b.nsu = t.nsu)`,
      )
    ).rows;

  it('decides one outcome for each of thousands of lines, over several batches', async () => {
    await expectCharges(2_000);
    await addLines(1, 2_500);
    await addLines(3_001, 3_100, '2025-06-01T00:00:00Z', 'old-');
    await reconcile();
    expect(await countResults()).toMatchObject({
      matched: 2_000,
      classified: 100,
      broken: 500,
      paid: 2_000,
      unexpected: 500,
      events: 2_500,
      decided: 2_600,
    });
    expect(await wronglyDecided()).toEqual([]);
  });

  it('changes nothing when it runs again', async () => {
    await expectCharges(10);
    await addLines(1, 15);
    await reconcile();
    const before = await countResults();
    await reconcile();
    await run(`UPDATE reconciliation_state SET decided_arrival = 0`);
    await reconcile();
    expect(await countResults()).toEqual(before);
  });

  it('decides each line once when several workers reconcile at the same time', async () => {
    await expectCharges(1_500);
    await addLines(1, 1_500);
    await Promise.all([reconcile(), reconcile(), reconcile()]);
    expect(await countResults()).toMatchObject({ matched: 1_500, broken: 0, events: 1_500 });
    expect(await wronglyDecided()).toEqual([]);
  });

  it('continues with the lines that arrived later', async () => {
    await expectCharges(4);
    await addLines(1, 2);
    await reconcile();
    await addLines(3, 5);
    await reconcile();
    expect(await countResults()).toMatchObject({ matched: 4, broken: 1, events: 5 });
  });

  it('reports a second payment as overpaid, in the same run or in a later one', async () => {
    await expectCharges(2);
    await addLines(1, 2);
    await run(
      `INSERT INTO statement_line (account_id, nsu, arrival, bank_id, is_credit, amount_cents,
         type_name, correlation_id, end_to_end_id, external_id, original_end_to_end_id, notes,
         balance_previous_cents, current_balance_cents, occurred_at, recorded_at, content_hash,
         content)
       SELECT account_id, 101, arrival + 100, bank_id, is_credit, amount_cents,
         type_name, 'order-1', end_to_end_id, external_id, original_end_to_end_id, notes, 0, 0,
         occurred_at + interval '1 hour', recorded_at, 'h', '{}' FROM statement_line WHERE nsu = 1`,
    );
    await reconcile();
    await run(
      `INSERT INTO statement_line (account_id, nsu, arrival, bank_id, is_credit, amount_cents,
         type_name, correlation_id, end_to_end_id, external_id, original_end_to_end_id, notes,
         balance_previous_cents, current_balance_cents, occurred_at, recorded_at, content_hash,
         content)
       SELECT account_id, 102, arrival + 200, bank_id, is_credit, amount_cents,
         type_name, 'order-2', end_to_end_id, external_id, original_end_to_end_id, notes, 0, 0,
         occurred_at + interval '1 hour', recorded_at, 'h', '{}' FROM statement_line WHERE nsu = 2`,
    );
    await reconcile();
    const { rows } = await run(
      `SELECT type, data::json ->> 'correlationId' AS id FROM event
       WHERE type NOT LIKE 'break.%' ORDER BY type DESC, position`,
    );
    expect(rows).toEqual([
      { type: 'charge.paid', id: 'order-1' },
      { type: 'charge.paid', id: 'order-2' },
      { type: 'charge.overpaid', id: 'order-1' },
      { type: 'charge.overpaid', id: 'order-2' },
    ]);
    const breaks = await run(`SELECT kind, state, nsu::int FROM break ORDER BY nsu`);
    expect(breaks.rows).toEqual([
      { kind: 'duplicate_payment', state: 'open', nsu: 101 },
      { kind: 'duplicate_payment', state: 'open', nsu: 102 },
    ]);
  });

  it('writes outcomes and events together or not at all', async () => {
    await expectCharges(3);
    await addLines(1, 5);
    await run(`ALTER TABLE event ADD CONSTRAINT full_disk CHECK (type <> 'charge.paid')`);
    await expect(reconcile()).rejects.toThrow(/full_disk/);
    expect(await countResults()).toMatchObject({ matched: 0, broken: 0, events: 0, decided: null });
    await run(`ALTER TABLE event DROP CONSTRAINT full_disk`);
    await reconcile();
    expect(await countResults()).toMatchObject({ matched: 3, broken: 2, events: 5 });
  });

  it('creates a delivery of an event for each endpoint that subscribes to its type, and no other', async () => {
    await run(
      `INSERT INTO webhook_endpoint (account_id, id, url, event_types, secret)
       SELECT $1, gen_random_uuid(), 'https://example.com', types::text[], 's'
       FROM (VALUES ('{}'), ('{charge.paid}'), ('{charge.overpaid}')) AS subscribed(types)`,
      service.accountId,
    );
    await expectCharges(3);
    await addLines(1, 4);
    await reconcile();
    const { rows } = await run(
      `SELECT p.event_types AS subscribed, count(d.id)::int AS deliveries FROM webhook_endpoint p
       LEFT JOIN delivery d ON d.endpoint_id = p.id GROUP BY 1 ORDER BY 2 DESC`,
    );
    expect(rows.map(({ deliveries }) => deliveries)).toEqual([5, 3, 0]);
    expect(enqueuedJobs.map((job) => (job as [string])[0])).toEqual([
      'deliverEvents',
      'deliverEvents',
    ]);
  });

  it('opens one ambiguous break for two payments that one line fits, with both as evidence', async () => {
    await expectCharges(1);
    await run(
      `WITH o AS (${succeededOperations({ id: "md5('x')::uuid" })}), e AS (
         INSERT INTO expected_payment
           (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use)
         VALUES ($1, md5('other')::uuid, md5('x')::uuid, 'create_charge', true, 1000, false)
       )
       INSERT INTO expected_payment_reference
       VALUES ($1, 'correlation_id', 'order-1', md5('other')::uuid)`,
      service.accountId,
    );
    await addLines(1, 1);
    await reconcile();
    const [found] = await service.database.prisma.break.findMany();
    expect(found).toMatchObject({ kind: 'ambiguous', state: 'open', nsu: 1n, amountCents: 1_000n });
    expect((found?.evidence as { candidates?: unknown[] } | undefined)?.candidates).toHaveLength(2);
    expect(await countResults()).toMatchObject({ matched: 0, broken: 1 });
  });
});
