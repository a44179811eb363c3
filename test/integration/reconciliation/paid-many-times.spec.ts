// Static QR codes can be paid without limit. The payments of the largest code here exceed the
// number of parameters that a statement of PostgreSQL can have.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { addPayments, withoutTriggers } from '../../support/parent-rows.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const id = (last: number) => `01a1fcf2-0000-7000-8000-${String(last).padStart(12, '0')}`;
const idOf = (number: string) =>
  `('01a1fcf2-0000-7000-8000-' || lpad((${number})::text, 12, '0'))::uuid`;

const largest = { correlationId: 'largest', payment: id(1), firstNsu: 1, payments: 40_000 };
const small = { correlationId: 'small', payment: id(2), firstNsu: 40_001, payments: 600 };
const unpaid = { correlationId: 'unpaid', payment: id(3), firstNsu: 0, payments: 0 };
const codes = [largest, small, unpaid];
/** Of the payments of the largest code, we refunded the first 15, and the bank the next 15. */
const ownRefunds = Array.from({ length: 15 }, (_, index) => id(50_001 + index));
const bankRefundNsu = 60_000;

interface ShownCharge {
  correlationId: string;
  expectedPaymentId: string;
  settlement: string;
  payments: { nsu: number; amount: number; endToEndId: string; occurredAt: string }[];
  paymentCount: number;
  refunds: { originalNsu: number; orderedBy: string; settlement: string }[];
  refundCount: number;
}

let service: ServiceApplication;
let accountId: number;

beforeAll(async () => {
  service = await serviceApplication();
  accountId = (await service.database.prisma.bankAccount.findFirstOrThrow()).id;
  await addPayments(service.database.pool, accountId, [
    ...codes.map(({ payment }) => payment),
    ...ownRefunds,
  ]);
  await withoutTriggers(service.database.pool, async (client) => {
    const run = (sql: string, ...values: unknown[]) => client.query(sql, [accountId, ...values]);
    await run(`UPDATE expected_payment SET is_multi_use = true WHERE account_id = $1`);
    for (const { correlationId, payment, firstNsu, payments } of codes) {
      await run(
        `INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type)
         VALUES ($1, $2, $3, $3, 'PIX_STATIC')`,
        ...[correlationId, payment],
      );
      await run(
        `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
           correlation_id, end_to_end_id, balance_previous_cents, current_balance_cents,
           occurred_at, content_hash, content)
         SELECT $1, nsu, nsu::text, true, nsu, 'CREDIT_PIX', $2, 'E' || nsu, 0, 0,
                '2026-01-01'::timestamptz + nsu * interval '1 second', 'h', '{}'
         FROM generate_series($3::int, $3 + $4 - 1) nsu`,
        ...[correlationId, firstNsu, payments],
      );
      await run(
        `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence)
         SELECT $1, ${idOf('nsu')}, nsu, $2, nsu, 'reference', '{}'
         FROM generate_series($3::int, $3 + $4 - 1) nsu`,
        ...[payment, firstNsu, payments],
      );
    }
    // The newest payment happened before the one that the bank numbered before it.
    await run(
      `UPDATE statement_line SET occurred_at = occurred_at - interval '1.5 seconds'
       WHERE account_id = $1 AND nsu = 40000`,
    );
    // The first payment of the small code was matched to the largest one before.
    await run(
      `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, rule, evidence,
         unlinked_at)
       VALUES ($1, ${idOf('40601')}, 40001, $2, 40001, 'reference', '{}', now())`,
      largest.payment,
    );
    await run(
      `INSERT INTO refund (account_id, id, original_nsu, amount_cents, state, expected_payment_id)
       SELECT $1, id, number, number, 'accepted', id
       FROM unnest($2::uuid[]) WITH ORDINALITY AS own(id, number)`,
      ownRefunds,
    );
    await run(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         original_end_to_end_id, balance_previous_cents, current_balance_cents, occurred_at,
         content_hash, content)
       SELECT $1, $2 + nsu, ($2 + nsu)::text, false, nsu, 'DEBIT_PIX_REFUND', 'E' || nsu, 0, 0,
              now(), 'h', '{}'
       FROM generate_series(16, 30) nsu`,
      bankRefundNsu,
    );
    await run(
      `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, role, rule,
         evidence)
       SELECT $1, ${idOf('$2 + nsu')}, $2 + nsu, $3, nsu, 'reversal', 'reference',
              jsonb_build_object('originalNsu', nsu)
       FROM generate_series(16, 30) nsu`,
      ...[bankRefundNsu, largest.payment],
    );
    await run(
      `INSERT INTO expected_payment_total (account_id, expected_payment_id, payment_count,
         paid_cents, reversed_cents, refunded_cents, unrefunded_cents, settlement)
       SELECT $1, payment, count, 1, 0, 0, 1, settlement::settlement
       FROM unnest($2::uuid[], $3::int[], $4::text[]) AS total(payment, count, settlement)`,
      [largest.payment, small.payment, ...ownRefunds],
      [largest.payments, small.payments, ...ownRefunds.map(() => 1)],
      ['settled', 'partially_settled', ...ownRefunds.map(() => 'settled')],
    );
  });
});
afterAll(() => service.stop());

const get = async <Body>(path: string): Promise<Body> => {
  const { status, body } = await service.call('GET', path);
  expect(status).toBe(200);
  return body as Body;
};
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

it('shows the newest payments of a code in the order in which they happened', async () => {
  const charge = await get<ShownCharge>('/v1/charges/largest');
  expect(charge).toMatchObject({ settlement: 'settled', paymentCount: 40_000 });
  expect(charge.payments.map(({ nsu }) => nsu)).toEqual([...range(39_981, 39_998), 40_000, 39_999]);
  expect(charge.payments[0]).toEqual({
    ...{ nsu: 39_981, amount: 399.81, endToEndId: 'E39981' },
    ...{ occurredAt: '2026-01-01T11:06:21.000Z', paidAt: '2026-01-01T11:06:21.000Z' },
    creditedAt: '2026-01-01T11:06:21.000Z',
  });
});

it('shows the newest refunds of old payments, by whoever ordered them', async () => {
  const { refunds, refundCount } = await get<ShownCharge>('/v1/charges/largest');
  expect(refundCount).toBe(30);
  expect(refunds.map(({ originalNsu }) => originalNsu)).toEqual(range(11, 30));
  expect(refunds.filter(({ orderedBy }) => orderedBy === 'us')).toHaveLength(5);
  expect(new Set(refunds.map(({ settlement }) => settlement))).toEqual(new Set(['settled']));
});

it('lists codes with any number of payments, each with its own', async () => {
  const { data } = await get<{ data: ShownCharge[] }>('/v1/charges');
  const shown = data.map(({ payments, refunds, ...charge }) => [
    ...[charge.correlationId, charge.settlement, charge.paymentCount, charge.refundCount],
    ...[payments.length, payments.at(-1)?.nsu, refunds.length],
  ]);
  expect(shown).toEqual([
    ['unpaid', 'open', 0, 0, 0, undefined, 0],
    ['small', 'partially_settled', 600, 0, 20, 40_600, 0],
    ['largest', 'settled', 40_000, 30, 20, 39_999, 20],
  ]);
});

it('lists all payments of a code as pages of matches', async () => {
  const { expectedPaymentId } = await get<ShownCharge>('/v1/charges/small');
  const list = `/v1/matches?expectedPaymentId=${expectedPaymentId}&limit=400`;
  const nsus: number[] = [];
  for (let next: string | null = ''; next !== null;) {
    const page: { data: { nsu: number }[]; next: string | null } = await get(
      next === '' ? list : `${list}&cursor=${next}`,
    );
    nsus.push(...page.data.map(({ nsu }) => nsu));
    ({ next } = page);
  }
  expect(nsus).toEqual(range(40_001, 40_600).reverse());
});
