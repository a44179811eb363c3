// Charges as their payments, ends and refunds are reviewed again and again, and what is told of each.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toChargeView } from '../../src/charges/charge-view.js';
import { listChargePayments, listChargeRefunds } from '../../src/charges/charges.queries.js';
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

it('a charge that was found cancelled after its payment is told, and a reopening changes nothing', async () => {
  await charge('ended');
  await book.mirror({ ...pix, nsu, externalId: 'ended' });
  await book.reconcile();
  expect(await breaksOf()).toEqual([]);
  await run(
    `UPDATE charge SET cancelled_at = now(), checked_at = clock_timestamp() WHERE correlation_id = 'ended'`,
  );
  await book.decision().standing.enqueueContradicted();
  expect(book.woken.at(-1)).toEqual(['reconcile', { accountId: service.accountId }]);
  await book.reconcile();
  expect(await breaksOf()).toEqual([{ kind: 'paid_after_cancellation', state: 'open', nsu }]);
  const before = book.woken.length;
  await book.decision().standing.enqueueContradicted();
  expect(book.woken).toHaveLength(before);
});

it('of many charges that ended each is reviewed, and none that can get no break is woken for', async () => {
  for (const [place, reference] of ['one', 'other', 'back'].entries()) {
    await charge(reference);
    const endToEndId = `end ${reference}`;
    await book.mirror({ ...pix, nsu: nsu + place, externalId: reference, endToEndId, age: 9 });
  }
  await book.mirror({
    ...{ nsu: nsu + 3, typeName: 'DEBIT_PIX_REFUND' },
    originalEndToEndId: 'end back',
  });
  await book.reconcile();
  await run(
    `UPDATE charge SET cancelled_at = now(), checked_at = now() WHERE correlation_id IN ('one', 'other', 'back')`,
  );
  await run(`UPDATE reconciliation_state SET charges_reviewed_at = now() - interval '1 hour'`);
  const { standing, review } = book.decision();
  expect(await review.reviewEnded(service.accountId, 1)).toBe(true);
  expect(await breaksOf()).toEqual([
    { kind: 'paid_after_cancellation', state: 'open', nsu },
    { kind: 'paid_after_cancellation', state: 'open', nsu: nsu + 1 },
  ]);
  const before = book.woken.length;
  await standing.enqueueContradicted();
  expect(book.woken).toHaveLength(before);
  const { rows } = await run(
    `SELECT charges_reviewed_at > now() - interval '15 minutes' AS it FROM reconciliation_state`,
  );
  expect(rows).toContainEqual({ it: true });
});

it('what the bank gives back of a payment is told of its charge, and settles its duplicate', async () => {
  await charge('twice');
  await book.mirror(
    { ...pix, nsu, externalId: 'twice', endToEndId: 'E1', age: 9 },
    { ...pix, nsu: nsu + 1, externalId: 'twice', endToEndId: 'E2', age: 8 },
  );
  await book.reconcile();
  expect(await breaksOf()).toEqual([{ kind: 'duplicate_payment', state: 'open', nsu: nsu + 1 }]);
  await book.mirror({ nsu: nsu + 2, typeName: 'DEBIT_PIX_REFUND', originalEndToEndId: 'E2' });
  await book.reconcile();
  expect(await breaksOf()).toEqual([
    { kind: 'duplicate_payment', state: 'resolved', nsu: nsu + 1 },
  ]);
  expect(await outcomes()).toContain('reversal by reversal');
  expect((await book.events()).at(-1)).toMatchObject({
    type: 'charge.refunded',
    data: { correlationId: 'twice', settlement: 'refunded', nsu: nsu + 2 },
  });
  await run(
    `WITH undone AS (UPDATE match SET unlinked_at = now(), unlinked_by = 'k' WHERE nsu = $2)
     INSERT INTO deferred_line (account_id, nsu) VALUES ($1, $2)`,
    service.accountId,
    nsu + 2,
  );
  await book.reconcile();
  expect(await outcomes()).toContain('unexpected');
});

describe('what a person has decided about a payment', () => {
  const decide = (sql: string) => run(sql, service.accountId, nsu + 1);

  it('is not told again under another name once a part of the first payment went back', async () => {
    await charge('accepted');
    await book.mirror(
      { ...pix, nsu, externalId: 'accepted', endToEndId: 'E3', age: 9 },
      { ...pix, nsu: nsu + 1, externalId: 'accepted', endToEndId: 'E4', age: 8 },
    );
    await book.reconcile();
    await decide(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'accept', resolved_by = 'k'
       WHERE account_id = $1 AND nsu = $2`,
    );
    const part = { typeName: 'DEBIT_PIX_REFUND', amountCents: 100 };
    await book.mirror({ ...part, nsu: nsu + 2, originalEndToEndId: 'E3' });
    await book.reconcile();
    await run(
      `UPDATE charge SET cancelled_at = now(), checked_at = now() WHERE correlation_id = 'accepted'`,
    );
    await book.reconcile();
    expect(await breaksOf()).toEqual([
      { kind: 'paid_after_cancellation', state: 'open', nsu },
      { kind: 'duplicate_payment', state: 'resolved', nsu: nsu + 1 },
    ]);
  });

  it('holds when the charge that he linked it to is cancelled so that it is not paid twice', async () => {
    const id = await charge('linked');
    await book.mirror({ ...pix, nsu: nsu + 1 });
    await book.reconcile();
    await decide(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = 'link', resolved_by = 'k'
       WHERE account_id = $1 AND nsu = $2`,
    );
    await run(
      `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, made_by, evidence)
       VALUES ($1, gen_random_uuid(), $2, $3, 1000, 'manual', 'k', '{}')`,
      service.accountId,
      nsu + 1,
      id,
    );
    await run(
      `UPDATE charge SET cancelled_at = now(), checked_at = now() WHERE correlation_id = 'linked'`,
    );
    const before = book.woken.length;
    await book.decision().standing.enqueueContradicted();
    expect(book.woken).toHaveLength(before);
    await book.decision().review.review(service.database.prisma as never, service.accountId, [id]);
    expect(await breaksOf()).toEqual([{ kind: 'unexpected', state: 'resolved', nsu: nsu + 1 }]);
  });
});

describe('what was settled of a charge', () => {
  const settle = (resolution: string) =>
    run(
      `UPDATE break SET state = 'resolved', resolved_at = now(), resolution = $2, resolved_by = 'clerk',
         resolution_reason = 'as agreed' WHERE nsu = $1`,
      nsu + 1,
      resolution,
    );
  const told = async () => {
    await book.reconcile();
    const { rows } = await run(
      `SELECT kind, COALESCE(resolution, state) AS is, resolved_by AS by, amount_cents::int AS cents FROM break
       WHERE nsu BETWEEN $1 AND $1 + 9 ORDER BY nsu, kind`,
      nsu,
    );
    return rows;
  };
  const trail = async () => {
    const { rows } = await run(
      `SELECT action, e.detail ->> 'fromCents' AS "from", e.detail ->> 'toCents' AS "to" FROM break b
       JOIN break_history_entry e ON e.break_id = b.id WHERE b.nsu = $1 ORDER BY sequence`,
      nsu + 1,
    );
    return rows;
  };
  const overpaid = (is: string, by: string | null, cents: number) => [
    { kind: 'overpaid', is, by, cents },
  ];
  /** R$ 11.00 of R$ 10.00; and R$ 5.00 that were paid before, and are seen later. */
  const payTooMuch = async (reference: string) => {
    const id = await charge(reference);
    const second = { nsu: nsu + 1, amountCents: 1_100, endToEndId: `second ${reference}`, age: 7 };
    await book.mirror({ ...pix, ...second, externalId: reference });
    expect(await told()).toEqual(overpaid('open', null, 100));
    return id;
  };
  const payBefore = (reference: string) => {
    const first = { nsu, amountCents: 500, endToEndId: `first ${reference}`, age: 9 };
    return book.mirror({ ...pix, ...first, externalId: reference });
  };
  const giveBack = (line: number, amountCents: number, originalEndToEndId: string) =>
    book.mirror({ nsu: line, typeName: 'DEBIT_PIX_REFUND', amountCents, originalEndToEndId });

  it('opens again when it has come to more than was accepted, and not while it has not', async () => {
    const id = await payTooMuch('too much');
    await settle('accept');
    await book.decision().review.review(service.database.prisma as never, service.accountId, [id]);
    expect(await told()).toEqual(overpaid('accept', 'clerk', 100));
    await payBefore('too much');
    expect(await told()).toEqual(overpaid('open', null, 600));
    await giveBack(nsu + 2, 400, 'first too much');
    expect(await told()).toEqual(overpaid('open', null, 200));
    // What is left is no more than what was accepted: it is, on the same word.
    await giveBack(nsu + 3, 150, 'second too much');
    expect(await told()).toEqual(overpaid('accept', 'clerk', 100));
    expect(await trail()).toEqual([
      { action: 'opened', from: null, to: null },
      { action: 'resolved', from: null, to: null },
      { action: 'reopened', from: '100', to: '600' },
      { action: 'revised', from: '600', to: '200' },
      { action: 'resolved', from: '200', to: '100' },
    ]);
  });

  it('is not accepted again by itself where a person has opened it since', async () => {
    await payTooMuch('retaken');
    await settle('accept');
    await payBefore('retaken');
    expect(await told()).toEqual(overpaid('open', null, 600));
    await run(
      `INSERT INTO break_history_entry (account_id, break_id, action, detail)
       SELECT account_id, id, 'reopen', '{}' FROM break WHERE nsu = $1`,
      nsu + 1,
    );
    await giveBack(nsu + 2, 500, 'first retaken');
    expect(await told()).toEqual(overpaid('open', null, 100));
  });

  it('does not hide what is left besides what went back, though it is less', async () => {
    await payTooMuch('refunded');
    await settle('refund');
    await giveBack(nsu + 2, 100, 'second refunded');
    expect(await told()).toEqual(overpaid('refund', 'clerk', 100));
    await book.mirror({ ...pix, nsu, externalId: 'refunded', amountCents: 50, age: 9 });
    expect(await told()).toEqual(overpaid('open', null, 50));
  });
});

it('a refund whose money came back is told so with its charge', async () => {
  await charge('given back');
  await book.mirror({ ...pix, nsu, externalId: 'given back', endToEndId: 'E9', age: 9 });
  const refund = await book.send({
    kind: 'refund_pix',
    state: 'succeeded',
    references: [{ kind: 'end_to_end_id', value: 'D3' }],
  });
  await run(
    `INSERT INTO refund (account_id, id, original_nsu, amount_cents, end_to_end_id, state, expected_payment_id)
     VALUES ($1, $2, $3, 1000, 'D3', 'accepted', $4)`,
    ...[service.accountId, refund.operationId, nsu, refund.expectedPaymentId],
  );
  const settlements = async () => {
    await book.reconcile();
    const { prisma } = service.database;
    const refunds = await listChargeRefunds(prisma, service.accountId, [BigInt(nsu)]);
    const payments = await listChargePayments(prisma, service.accountId, ['given back']);
    const row = { response: null, createdAt: new Date(), amountCents: 1_000n } as never;
    const told = toChargeView(row, payments, refunds, '2026-01-01');
    return { charge: told.settlement, refunds: told.refunds };
  };
  const us = { orderedBy: 'us', settlement: 'open' };
  expect(await settlements()).toMatchObject({ charge: 'settled', refunds: [us] });
  await book.mirror({ nsu: nsu + 1, typeName: 'DEBIT_PIX_REFUND', endToEndId: 'D3', age: 6 });
  const made = { settlement: 'settled' };
  expect(await settlements()).toMatchObject({ charge: 'refunded', refunds: [made] });
  // Paid again, as its breaks see it too: what went back whole is as if it had never come.
  await book.mirror({ ...pix, nsu: nsu + 3, externalId: 'given back', endToEndId: 'E10', age: 2 });
  expect(await settlements()).toMatchObject({ charge: 'settled', refunds: [made] });
  expect(await breaksOf()).toEqual([]);
  const told = await run(`SELECT type FROM event WHERE data LIKE '%given back%' ORDER BY id`);
  expect(told.rows).toEqual([{ type: 'charge.paid' }, { type: 'charge.paid' }]);
  await book.mirror({ nsu: nsu + 2, isCredit: true, endToEndId: 'D3' });
  const undone = { settlement: 'reversed', state: 'accepted' };
  expect(await settlements()).toMatchObject({ charge: 'overpaid', refunds: [undone] });
});
