import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventsService } from '../../src/events/events.service.js';
import { ManualMatches } from '../../src/reconciliation/breaks/manual-matches.service.js';
import * as ownTransfers from '../../src/reconciliation/own-transfers.queries.js';
import * as queries from '../../src/reconciliation/outcomes.queries.js';
import { SentMoneyFixture } from '../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

let service: ServiceDatabase;
let nsu = 0;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());
beforeEach(() => {
  nsu += 10;
});

const fixture = new SentMoneyFixture(() => service);
const { run, addCharge } = fixture;
const listBreaks = () => fixture.listBreaksFrom(nsu);
const outcomes = async () =>
  (await fixture.outcomes()).filter((line) => line.nsu >= nsu).map(({ outcome }) => outcome);

const pix = { isCredit: true, typeName: 'CREDIT_PIX' };

describe('a line is decided again', () => {
  it('when a declared rule matched it and another line references its expected payment', async () => {
    const id = await addCharge('ruled');
    await fixture.addLines({ ...pix, nsu, age: 9 });
    await fixture.reconcile();
    await run(
      `WITH resolved AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2)
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id,
         rule_version, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', gen_random_uuid(), 1, '{}')`,
      service.accountId,
      nsu,
      id,
    );
    await fixture.addLines({ ...pix, nsu: nsu + 1, externalId: 'ruled' });
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'payment by reference']);
    expect(await listBreaks()).toEqual([{ kind: 'unexpected', state: 'open', nsu }]);
  });

  it('but not when its period is closed: the referencing line is a duplicate payment', async () => {
    const id = await addCharge('closed');
    await fixture.addLines({ ...pix, nsu, age: 3_600 });
    await fixture.reconcile();
    await run(
      `WITH resolved AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2),
            closed AS (INSERT INTO statement_state (account_id, closed_from, closed_until)
              VALUES ($1, now() - interval '1 day', now() - interval '1 minute'))
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id,
         rule_version, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', gen_random_uuid(), 1, '{}')`,
      service.accountId,
      nsu,
      id,
    );
    await fixture.addLines({ ...pix, nsu: nsu + 1, externalId: 'closed' });
    await fixture.reconcile();
    await run(`DELETE FROM statement_state`);
    expect(await outcomes()).toEqual(['payment by declared', 'payment by reference']);
    expect(await listBreaks()).toContainEqual({
      ...{ kind: 'duplicate_payment', state: 'open' },
      nsu: nsu + 1,
    });
  });

  it('when another account proves to have sent it, even after 30 days or a match by a rule', async () => {
    const { rows } = await run(
      `INSERT INTO bank_account
       SELECT (jsonb_populate_record(a, jsonb_build_object('id', 9999, 'slug', 'other'))).*
       FROM bank_account a WHERE id = $1 RETURNING id`,
      service.accountId,
    );
    const transfer = { ...pix, typeName: 'CREDIT_TRANSFER_INTERNAL' };
    await fixture.addLines(
      { ...transfer, nsu, movementId: 'inner' },
      { ...transfer, nsu: nsu + 1, movementId: 'ruled' },
    );
    await fixture.reconcile();
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu);
    await run(
      `WITH resolved AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2)
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id,
         rule_version, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', gen_random_uuid(), 1, '{}')`,
      service.accountId,
      nsu + 1,
      await addCharge('of another'),
    );
    const open = { kind: 'unexpected', state: 'open', nsu };
    expect(await listBreaks()).toEqual([open, { ...open, state: 'resolved', nsu: nsu + 1 }]);
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         movement_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
         content)
       SELECT $1, nsu, 'x', false, 1000, 'DEBIT_TRANSFER_INTERNAL', id, 0, 0, now(), 'h', '{}'
       FROM (VALUES (1, 'inner'), (2, 'ruled')) AS line(nsu, id)`,
      rows[0].id,
    );
    await fixture.reconciliationParts().reconciliation.reconcile({ accountId: rows[0].id });
    expect(fixture.enqueuedJobs).toContainEqual(['reconcile', { accountId: service.accountId }]);
    await fixture.reconcile();
    expect((await listBreaks()).map(({ state }) => state)).toEqual(['resolved', 'resolved']);
    const classified = await run(
      `SELECT category, evidence FROM classification
       WHERE nsu BETWEEN $1::bigint AND $1::bigint + 1`,
      nsu,
    );
    const own = { category: 'own_account_transfer', evidence: {} };
    expect(classified.rows).toEqual([own, own]);
    expect(await outcomes()).toEqual([null, null]);
  });

  it('when another account defers it while a concurrent transaction is deciding it', async () => {
    const { database, accountId } = service;
    await run(
      `INSERT INTO bank_account
       SELECT (jsonb_populate_record(a, jsonb_build_object('id', 9998, 'slug', 'sender'))).*
       FROM bank_account a WHERE id = $1`,
      accountId,
    );
    await fixture.addLines({ ...pix, nsu, endToEndId: 'E deferred' });
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         end_to_end_id, balance_previous_cents, current_balance_cents, occurred_at, content_hash,
         content)
       VALUES (9998, 7, 'x', false, 1000, 'DEBIT_PIX', 'E deferred', 0, 0, now(), 'h', '{}')`,
    );
    let markStarted = () => {};
    const hasStarted = new Promise<void>((resolve) => (markStarted = resolve));
    let decided: Promise<void> | undefined;
    const deferred: Promise<unknown> = database.transaction(async (sender) => {
      await sender.$queryRaw`SELECT 1 FROM pg_sleep(0.002)`;
      decided = database.transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1 FROM pg_sleep(0.002)`;
        markStarted();
        await deferred;
        await queries.recordPendingLines(tx, accountId, [BigInt(nsu)], []);
      });
      await hasStarted;
      await ownTransfers.deferOwnTransferCredits(sender, 9998, [7n]);
    });
    await deferred;
    await decided;
    const { rows } = await run(`SELECT nsu::int FROM deferred_line WHERE nsu = $1`, nsu);
    expect(rows).toEqual([{ nsu }]);
  });

  it('neither before its first decision nor while it has an outcome, and delays no other line', async () => {
    const { database, accountId } = service;
    await fixture.addLines(
      { ...pix, nsu, age: 9 },
      { ...pix, nsu: nsu + 1 },
      { ...pix, nsu: nsu + 2 },
    );
    await run(
      `WITH explained AS (
         INSERT INTO classification (account_id, nsu, rule, category, evidence)
         VALUES ($1, $2, 'declared', 'fee', '{}')
       )
       INSERT INTO deferred_line (account_id, nsu, deferred_at)
       SELECT $1, n, now() - ($2 + 9 - n) * interval '1 minute'
       FROM generate_series($2::bigint, $2 + 2) n`,
      accountId,
      nsu,
    );
    const { rows } = await run(
      `SELECT max(arrival) - 1 AS decided FROM statement_line WHERE account_id = $1`,
      accountId,
    );
    const linesToDecide = await database.transaction(async (tx) => {
      const explained = await ownTransfers.listExplainedPendingLines(tx, accountId);
      await run(`UPDATE deferred_line SET deferred_at = deferred_at - interval '1 minute'`);
      await ownTransfers.deleteExplainedPendingLines(tx, accountId, explained);
      const after = { afterArrival: BigInt(rows[0].decided), limit: 1, freshMs: 0 };
      return queries.listLinesToDecide(tx, accountId, after);
    });
    expect(linesToDecide.map((line) => [Number(line.nsu), line.source])).toEqual([
      [nsu + 1, 'pending'],
      [nsu + 2, 'new'],
    ]);
    const pendingLines = async () =>
      (await run(`SELECT nsu::int FROM deferred_line WHERE nsu BETWEEN $1 AND $1 + 9`, nsu)).rows;
    expect(await pendingLines()).toContainEqual({ nsu });
    await fixture.reconcile();
    expect(await pendingLines()).toEqual([]);
  });

  it('when a reference of an old operation is recorded long after the break was opened', async () => {
    await fixture.addLines({ nsu, age: 9 });
    await fixture.reconcile();
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu);
    const { operationId } = await fixture.addOperation({ state: 'succeeded', age: 20 });
    await run(`UPDATE operation SET updated_at = now() WHERE id = $1`, operationId);
    await run(
      `INSERT INTO expected_payment_reference
       SELECT account_id, 'nsu', $2, id FROM expected_payment WHERE operation_id = $1`,
      operationId,
      String(nsu),
    );
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['payment by reference']);
    expect(await listBreaks()).toEqual([{ kind: 'unexpected', state: 'resolved', nsu }]);
  });
});

describe('a Pix from the account to a key of the same account', () => {
  const legs = (id: string) =>
    ({
      debit: { nsu, endToEndId: id },
      credit: { ...pix, nsu: nsu + 1, endToEndId: id },
    }) as const;
  const categories = async () =>
    (
      await run(
        `SELECT nsu::int, category FROM classification WHERE nsu BETWEEN $1 AND $1 + 9`,
        nsu,
      )
    ).rows;

  it.each([
    ['together', [['debit', 'credit']]],
    ['debit first', [['debit'], ['credit']]],
    ['credit first', [['credit'], ['debit']]],
  ] as const)(
    'has both lines explained when they arrive in this order: %s',
    async (order, batches) => {
      const id = `E own ${order}`;
      await fixture.addOperation({
        state: 'succeeded',
        transferState: 'effective',
        references: [{ kind: 'end_to_end_id', value: id }],
      });
      for (const batch of batches) {
        await fixture.addLines(...batch.map((leg) => legs(id)[leg]));
        await fixture.reconcile();
      }
      expect(await outcomes()).toEqual(['payment by reference', null]);
      expect(await categories()).toEqual([{ nsu: nsu + 1, category: 'own_account_transfer' }]);
    },
  );

  it('has both lines explained when a person links the debit, however late', async () => {
    const amountCents = 777;
    const { expectedPaymentId } = await fixture.addOperation({
      ...{ state: 'succeeded', transferState: 'accepted', amountCents },
    });
    const { debit, credit } = legs('E manual');
    await fixture.addLines({ ...debit, amountCents }, { ...credit, amountCents });
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu + 1);
    const { breaks, review } = fixture.reconciliationParts();
    const events = new EventsService(service.database, fixture.jobQueue);
    const manualMatches = new ManualMatches(events, fixture.expectedPayments, breaks, review);
    const allocations = [{ expectedPaymentId, amountCents: null }];
    const by = { actor: 'anna', reason: 'test' };
    await service.database.transaction((tx) =>
      manualMatches.link(tx, service.accountId, { nsu: BigInt(nsu), allocations }, by),
    );
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['payment by manual', null]);
    expect(await categories()).toEqual([{ nsu: nsu + 1, category: 'own_account_transfer' }]);
  });

  it('is not an own transfer when no operation requested its debit', async () => {
    const { debit, credit } = legs('E stranger');
    await fixture.addLines(debit, credit);
    await fixture.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
  });

  it('explains only a credit of the same amount', async () => {
    const id = 'E own once';
    await fixture.addOperation({
      state: 'succeeded',
      transferState: 'effective',
      references: [{ kind: 'end_to_end_id', value: id }],
    });
    const { debit, credit } = legs(id);
    await fixture.addLines(debit, credit);
    await fixture.reconcile();
    await fixture.addLines({ ...credit, nsu: nsu + 2, amountCents: 999 });
    await fixture.reconcile();
    expect((await outcomes()).at(-1)).toBe('unexpected');
  });
});
