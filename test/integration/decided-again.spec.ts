import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventsService } from '../../src/events/events.service.js';
import { ManualMatches } from '../../src/reconciliation/breaks/manual-matches.service.js';
import * as ownTransfers from '../../src/reconciliation/own-transfers.queries.js';
import * as queries from '../../src/reconciliation/outcomes.queries.js';
import { SentMoney } from '../support/sent-money.js';
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

const book = new SentMoney(() => service);
const { run, charge } = book;
const breaksOf = () => book.breaksFrom(nsu);
const outcomes = async () =>
  (await book.outcomes()).filter((one) => one.nsu >= nsu).map(({ outcome }) => outcome);

const pix = { isCredit: true, typeName: 'CREDIT_PIX' };

describe('a line is judged anew', () => {
  it('when it was matched by a rule, its window is open, and a reference names what it pays', async () => {
    const id = await charge('ruled');
    await book.mirror({ ...pix, nsu, age: 9 });
    await book.reconcile();
    await run(
      `WITH held AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2)
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id, rule_version, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', gen_random_uuid(), 1, '{}')`,
      service.accountId,
      nsu,
      id,
    );
    await book.mirror({ ...pix, nsu: nsu + 1, externalId: 'ruled' });
    await book.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'payment by reference']);
    expect(await breaksOf()).toEqual([{ kind: 'unexpected', state: 'open', nsu }]);
  });

  it('but not when its window has closed: the two are a payment and a duplicate', async () => {
    const id = await charge('closed');
    await book.mirror({ ...pix, nsu, age: 3_600 });
    await book.reconcile();
    await run(
      `WITH held AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2),
            closed AS (INSERT INTO statement_state (account_id, closed_from, closed_until)
              VALUES ($1, now() - interval '1 day', now() - interval '1 minute'))
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id, rule_version, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', gen_random_uuid(), 1, '{}')`,
      service.accountId,
      nsu,
      id,
    );
    await book.mirror({ ...pix, nsu: nsu + 1, externalId: 'closed' });
    await book.reconcile();
    await run(`DELETE FROM statement_state`);
    expect(await outcomes()).toEqual(['payment by declared', 'payment by reference']);
    expect(await breaksOf()).toContainEqual({
      ...{ kind: 'duplicate_payment', state: 'open' },
      nsu: nsu + 1,
    });
  });

  it('when another account of ours turns out to have sent it, however late, and whatever a rule took it for', async () => {
    const { rows } = await run(
      `INSERT INTO bank_account SELECT (jsonb_populate_record(a, jsonb_build_object('id', 9999, 'slug', 'other'))).*
       FROM bank_account a WHERE id = $1 RETURNING id`,
      service.accountId,
    );
    const inner = { ...pix, typeName: 'CREDIT_TRANSFER_INTERNAL' };
    await book.mirror(
      { ...inner, nsu, movementId: 'inner' },
      { ...inner, nsu: nsu + 1, movementId: 'ruled' },
    );
    await book.reconcile();
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu);
    await run(
      `WITH held AS (UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $2)
       INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, rule_id, rule_version, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'declared', gen_random_uuid(), 1, '{}')`,
      service.accountId,
      nsu + 1,
      await charge('of another'),
    );
    const stood = { kind: 'unexpected', state: 'open', nsu };
    expect(await breaksOf()).toEqual([stood, { ...stood, state: 'resolved', nsu: nsu + 1 }]);
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, movement_id,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       SELECT $1, nsu, 'x', false, 1000, 'DEBIT_TRANSFER_INTERNAL', id, 0, 0, now(), 'h', '{}'
       FROM (VALUES (1, 'inner'), (2, 'ruled')) AS told(nsu, id)`,
      rows[0].id,
    );
    await book.decision().reconciliation.reconcile({ accountId: rows[0].id });
    expect(book.woken).toContainEqual(['reconcile', { accountId: service.accountId }]);
    await book.reconcile();
    expect((await breaksOf()).map(({ state }) => state)).toEqual(['resolved', 'resolved']);
    const classified = await run(
      `SELECT category, evidence FROM classification WHERE nsu BETWEEN $1::bigint AND $1::bigint + 1`,
      nsu,
    );
    const own = { category: 'own_account_transfer', evidence: {} };
    expect(classified.rows).toEqual([own, own]);
    expect(await outcomes()).toEqual([null, null]);
  });

  it('when another account asks for it while its own is being judged, and had not come when that began', async () => {
    const { database, accountId } = service;
    await run(
      `INSERT INTO bank_account SELECT (jsonb_populate_record(a, jsonb_build_object('id', 9998, 'slug', 'asks'))).*
       FROM bank_account a WHERE id = $1`,
      accountId,
    );
    await book.mirror({ ...pix, nsu, endToEndId: 'E asked' });
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, end_to_end_id,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES (9998, 7, 'x', false, 1000, 'DEBIT_PIX', 'E asked', 0, 0, now(), 'h', '{}')`,
    );
    let began = () => {};
    const judging = new Promise<void>((resolve) => (began = resolve));
    let decided: Promise<void> | undefined;
    const asked: Promise<unknown> = database.transaction(async (asking) => {
      await asking.$queryRaw`SELECT 1 FROM pg_sleep(0.002)`;
      decided = database.transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1 FROM pg_sleep(0.002)`;
        began();
        await asked;
        await queries.recordPendingLines(tx, accountId, [BigInt(nsu)], []);
      });
      await judging;
      await ownTransfers.deferOwnTransferCredits(asking, 9998, [7n]);
    });
    await asked;
    await decided;
    const { rows } = await run(`SELECT nsu::int FROM deferred_line WHERE nsu = $1`, nsu);
    expect(rows).toEqual([{ nsu }]);
  });

  it('not before it was judged at all, nor while it is explained; neither keeps another waiting', async () => {
    const { database, accountId } = service;
    await book.mirror({ ...pix, nsu, age: 9 }, { ...pix, nsu: nsu + 1 }, { ...pix, nsu: nsu + 2 });
    await run(
      `WITH explained AS (
         INSERT INTO classification (account_id, nsu, rule, category, evidence) VALUES ($1, $2, 'declared', 'fee', '{}')
       )
       INSERT INTO deferred_line (account_id, nsu, deferred_at)
       SELECT $1, n, now() - ($2 + 9 - n) * interval '1 minute' FROM generate_series($2::bigint, $2 + 2) n`,
      accountId,
      nsu,
    );
    const { rows } = await run(
      `SELECT max(arrival) - 1 AS decided FROM statement_line WHERE account_id = $1`,
      accountId,
    );
    const heard = await database.transaction(async (tx) => {
      const explained = await ownTransfers.listExplainedPendingLines(tx, accountId);
      await run(`UPDATE deferred_line SET deferred_at = deferred_at - interval '1 minute'`);
      await ownTransfers.deleteExplainedPendingLines(tx, accountId, explained);
      const after = { afterArrival: BigInt(rows[0].decided), limit: 1, freshMs: 0 };
      return queries.listLinesToDecide(tx, accountId, after);
    });
    expect(heard.map((line) => [Number(line.nsu), line.source])).toEqual([
      [nsu + 1, 'pending'],
      [nsu + 2, 'new'],
    ]);
    const waiting = async () =>
      (await run(`SELECT nsu::int FROM deferred_line WHERE nsu BETWEEN $1 AND $1 + 9`, nsu)).rows;
    expect(await waiting()).toContainEqual({ nsu });
    await book.reconcile();
    expect(await waiting()).toEqual([]);
  });

  it('when an id that is told later than anybody looks at each time names what it pays', async () => {
    await book.mirror({ nsu, age: 9 });
    await book.reconcile();
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu);
    const { operationId } = await book.send({ state: 'succeeded', age: 20 });
    await run(`UPDATE operation SET updated_at = now() WHERE id = $1`, operationId);
    await run(
      `INSERT INTO expected_payment_reference
       SELECT account_id, 'nsu', $2, id FROM expected_payment WHERE operation_id = $1`,
      operationId,
      String(nsu),
    );
    await book.reconcile();
    expect(await outcomes()).toEqual(['payment by reference']);
    expect(await breaksOf()).toEqual([{ kind: 'unexpected', state: 'resolved', nsu }]);
  });
});

describe('a Pix of ours to a key of the account itself', () => {
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
  ] as const)('has both its legs explained, mirrored %s', async (order, batches) => {
    const id = `E own ${order}`;
    await book.send({
      state: 'succeeded',
      transferState: 'effective',
      references: [{ kind: 'end_to_end_id', value: id }],
    });
    for (const batch of batches) {
      await book.mirror(...batch.map((leg) => legs(id)[leg]));
      await book.reconcile();
    }
    expect(await outcomes()).toEqual(['payment by reference', null]);
    expect(await categories()).toEqual([{ nsu: nsu + 1, category: 'own_account_transfer' }]);
  });

  it('has both explained where a person says what the debit pays, however long after', async () => {
    const amountCents = 777;
    const { expectedPaymentId } = await book.send({
      ...{ state: 'succeeded', transferState: 'accepted', amountCents },
    });
    const { debit, credit } = legs('E by hand');
    await book.mirror({ ...debit, amountCents }, { ...credit, amountCents });
    await book.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
    await run(`UPDATE break SET opened_at = now() - interval '30 days' WHERE nsu = $1`, nsu + 1);
    const { breaks, review } = book.decision();
    const events = new EventsService(service.database, book.jobQueue);
    const hands = new ManualMatches(events, book.expectedPayments, breaks, review);
    const allocations = [{ expectedPaymentId, amountCents: null }];
    const hand = { actor: 'anna', reason: 'test' };
    await service.database.transaction((tx) =>
      hands.link(tx, service.accountId, { nsu: BigInt(nsu), allocations }, hand),
    );
    await book.reconcile();
    expect(await outcomes()).toEqual(['payment by manual', null]);
    expect(await categories()).toEqual([{ nsu: nsu + 1, category: 'own_account_transfer' }]);
  });

  it('is no transfer of ours where nobody here asked for its debit', async () => {
    const { debit, credit } = legs('E stranger');
    await book.mirror(debit, credit);
    await book.reconcile();
    expect(await outcomes()).toEqual(['unexpected', 'unexpected']);
  });

  it('has a credit of its own amount alone', async () => {
    const id = 'E own once';
    await book.send({
      state: 'succeeded',
      transferState: 'effective',
      references: [{ kind: 'end_to_end_id', value: id }],
    });
    const { debit, credit } = legs(id);
    await book.mirror(debit, credit);
    await book.reconcile();
    await book.mirror({ ...credit, nsu: nsu + 2, amountCents: 999 });
    await book.reconcile();
    expect((await outcomes()).at(-1)).toBe('unexpected');
  });
});
