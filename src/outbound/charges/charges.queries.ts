// Inserts charges. Reads their newest payments, and the newest refunds of these payments. A static
// QR code may be paid without limit, so each read is bounded, and the count of its payments is
// stored.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type Charge,
  type Refund,
  type Settlement,
} from '../../generated/service/client.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { maxShownOfCharge } from './charges.schema.js';

export type NewChargeRow = Pick<
  Charge,
  ('operationId' | 'expectedPaymentId' | 'correlationId' | 'type' | 'amountCents') | 'nextCheckAt'
>;

/** Inserts charges of one account, unless another one has one of their correlationIds. */
export function chargesWrite(accountId: number, charges: readonly NewChargeRow[]): Write {
  const rows = charges.map((charge) => ({
    ...charge,
    // As text: a JSON number would pass through a float.
    amountCents: charge.amountCents?.toString() ?? null,
  }));
  const sql = Prisma.sql`
    INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
                        amount_cents, next_check_at)
    SELECT ${accountId}::int, "correlationId", "operationId", "expectedPaymentId", type,
           "amountCents"::bigint, "nextCheckAt"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      "correlationId" text, "operationId" uuid, "expectedPaymentId" uuid, type text,
      "amountCents" text, "nextCheckAt" timestamptz)
    ORDER BY "correlationId"
    ON CONFLICT DO NOTHING`;
  return { sql, rows: charges.length };
}

export interface NewestPaymentRow {
  /** Of the charge. */
  expectedPaymentId: string;
  nsu: bigint;
  amountCents: bigint;
  endToEndId: string | null;
  typeName: string;
  paidOn: string | null;
  occurredAt: Date;
  /** How many payments the charge has. */
  count: number;
}

/**
 * The payments of a charge, by its expected payment (charge.payment_id): the newest ones, which
 * have the highest nsu.
 */
const paymentsOfCharge = (accountId: number, limit: number) => Prisma.sql`
  SELECT nsu, amount_cents FROM match
  WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = charge.payment_id
    AND role = 'payment' AND unlinked_at IS NULL
  ORDER BY nsu DESC LIMIT ${limit}`;

/**
 * The newest payments of charges, by their expected payments. They are returned in the order in
 * which they happened.
 */
export async function listNewestPayments(
  db: Db,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<NewestPaymentRow[]> {
  return db.$queryRaw<NewestPaymentRow[]>`
    SELECT charge.payment_id AS "expectedPaymentId", newest.nsu, newest.amount_cents,
           line.end_to_end_id, line.type_name, line.paid_on, line.occurred_at,
           total.payment_count AS count
    FROM unnest(${expectedPaymentIds}::uuid[]) AS charge(payment_id)
    CROSS JOIN LATERAL (${paymentsOfCharge(accountId, maxShownOfCharge)}) newest
    CROSS JOIN LATERAL (
      SELECT end_to_end_id, type_name, paid_on, occurred_at FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = newest.nsu OFFSET 0
    ) line
    CROSS JOIN LATERAL (
      SELECT payment_count FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND expected_payment_id = charge.payment_id OFFSET 0
    ) total
    ORDER BY line.occurred_at, newest.nsu`;
}

export interface NewestRefundRow extends Pick<
  Refund,
  'id' | 'originalNsu' | 'amountCents' | 'state' | 'nsu'
> {
  /** Of the charge. */
  expectedPaymentId: string;
  orderedBy: 'us' | 'bank';
  isWithdrawn: boolean;
  /** Null while the refund was not decided. */
  stored: Settlement | null;
  /** How many refunds the payments of the charge have. */
  count: number;
}

/** The payments of a charge are looked up one by one if it has no more than this. */
const fewPayments = 1_000;

/**
 * Refunds of the charge's payments that we requested: looked up by its payments, or, for a QR code
 * that was paid very many times, by the refunds of the account.
 */
const ownRefundsOfCharge = (accountId: number) => Prisma.sql`
  SELECT refund.id, refund.original_nsu, refund.amount_cents, refund.state, refund.nsu,
         'us' AS ordered_by, refund.expected_payment_id
  FROM (${paymentsOfCharge(accountId, fewPayments)}) payment
  CROSS JOIN LATERAL (
    SELECT * FROM refund
    WHERE account_id = ${opaqueAccountId(accountId)} AND original_nsu = payment.nsu OFFSET 0
  ) refund
  WHERE NOT charge.is_paid_often
  UNION ALL
  SELECT refund.id, refund.original_nsu, refund.amount_cents, refund.state, refund.nsu, 'us',
         refund.expected_payment_id
  FROM refund
  CROSS JOIN LATERAL (
    SELECT expected_payment_id, role FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = refund.original_nsu
      AND unlinked_at IS NULL OFFSET 0
  ) payment
  WHERE charge.is_paid_often AND refund.account_id = ${opaqueAccountId(accountId)}
    AND payment.expected_payment_id = charge.payment_id AND payment.role = 'payment'`;

/** Refunds of the charge's payments that the bank made without our request. */
const bankRefundsOfCharge = (accountId: number) => Prisma.sql`
  SELECT reversal.id, (reversal.evidence ->> 'originalNsu')::bigint, reversal.amount_cents,
         'accepted', reversal.nsu, 'bank', NULL
  FROM (
    SELECT * FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = charge.payment_id
      AND role = 'reversal' AND unlinked_at IS NULL OFFSET 0
  ) reversal
  WHERE reversal.evidence ? 'originalNsu'`;

/**
 * The newest refunds of the charges' payments, oldest first: our own refunds, and refunds that the
 * bank made without our request.
 */
export async function listNewestRefunds(
  db: Db,
  accountId: number,
  expectedPaymentIds: string[],
): Promise<NewestRefundRow[]> {
  return db.$queryRaw<NewestRefundRow[]>`
    SELECT charge.payment_id AS "expectedPaymentId", newest.id, newest.original_nsu,
           newest.amount_cents, newest.state, newest.nsu, newest.ordered_by, newest.count,
           e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           CASE newest.ordered_by WHEN 'bank' THEN 'settled' ELSE total.settlement END AS stored
    FROM (
      SELECT payment_id, COALESCE(total.payment_count, 0) > ${fewPayments} AS is_paid_often
      FROM unnest(${expectedPaymentIds}::uuid[]) AS shown(payment_id)
      LEFT JOIN LATERAL (
        SELECT payment_count FROM expected_payment_total
        WHERE account_id = ${opaqueAccountId(accountId)}
          AND expected_payment_id = shown.payment_id OFFSET 0
      ) total ON true
      OFFSET 0
    ) charge
    CROSS JOIN LATERAL (
      SELECT *, (count(*) OVER ())::int AS count FROM (
        ${ownRefundsOfCharge(accountId)} UNION ALL ${bankRefundsOfCharge(accountId)}
      ) refund
      ORDER BY id DESC LIMIT ${maxShownOfCharge}
    ) newest
    LEFT JOIN LATERAL (
      SELECT withdrawn_at FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = newest.expected_payment_id OFFSET 0
    ) e ON true
    LEFT JOIN LATERAL (
      SELECT settlement FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND expected_payment_id = newest.expected_payment_id OFFSET 0
    ) total ON true
    ORDER BY newest.id`;
}
