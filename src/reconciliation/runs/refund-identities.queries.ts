// What must hold of refunds whatever computes them: identities over facts, for verification. They
// share no code, view or fragment with what they check: a fault of one must not hide in the other.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';

export interface RefundDifference {
  subject: string;
  stored: string;
  computed: string;
  /** What the identity is about. While it is due to be decided, it need not hold. */
  nsu: bigint | null;
  expectedPaymentId: string | null;
}

/** The decided lines, the links that stand, and the live matches. */
const facts = (accountId: number) => Prisma.sql`
  WITH line AS MATERIALIZED (
    SELECT t.*, COALESCE(t.original_end_to_end_id, reported.value) AS original_id
    FROM statement_line t
    JOIN reconciliation_state s ON s.account_id = t.account_id
    LEFT JOIN reported_reference reported ON reported.account_id = t.account_id
      AND reported.nsu = t.nsu AND reported.kind = 'original_end_to_end_id'
    WHERE t.account_id = ${accountId} AND t.arrival <= s.decided_arrival
  ), link AS MATERIALIZED (
    SELECT p.nsu, p.original_nsu, p.expected_payment_id, p.amount_cents
    FROM linked_original p
    JOIN (
      SELECT nsu, max(sequence) AS sequence FROM line_decision
      WHERE account_id = ${accountId} GROUP BY nsu
    ) last ON last.nsu = p.nsu AND last.sequence = p.sequence
    WHERE p.account_id = ${accountId}
  ), live AS MATERIALIZED (
    SELECT m.nsu, m.expected_payment_id, m.amount_cents, m.role::text AS role, e.is_credit,
           r.original_nsu
    FROM match m
    JOIN expected_payment e ON e.account_id = m.account_id AND e.id = m.expected_payment_id
    LEFT JOIN refund r ON r.account_id = m.account_id
      AND r.expected_payment_id = m.expected_payment_id
    WHERE m.account_id = ${accountId} AND m.unlinked_at IS NULL`;

/** Of which Pix each debit is, and with how much of it. */
const shares = (accountId: number) => Prisma.sql`
  ), claim AS (
    SELECT debit.nsu, pix.nsu AS pix, debit.amount_cents AS cents
    FROM line debit JOIN line pix ON pix.is_credit
      AND pix.end_to_end_id = debit.original_id
    WHERE NOT debit.is_credit
    UNION ALL
    SELECT debit.nsu, pix.nsu, debit.amount_cents
    FROM line debit JOIN line pix ON pix.is_credit AND pix.end_to_end_id = debit.end_to_end_id
    WHERE NOT debit.is_credit AND debit.original_id IS NULL
      AND debit.type_name ~* 'REFUND|DEVOL|REVERSAL|RETURN|CHARGEBACK|ESTORNO'
      AND pix.type_name !~* 'REFUND|DEVOL|REVERSAL|RETURN|CHARGEBACK|ESTORNO'
    UNION ALL
    SELECT debit.nsu, r.original_nsu, debit.amount_cents
    FROM refund r
    JOIN line pix ON pix.nsu = r.original_nsu
    JOIN line debit ON debit.nsu = r.nsu OR debit.idempotency_key = r.id::text
      OR debit.end_to_end_id = r.end_to_end_id
        AND r.end_to_end_id IS DISTINCT FROM pix.end_to_end_id
    WHERE r.account_id = ${accountId} AND NOT debit.is_credit
      AND NOT EXISTS (SELECT FROM live WHERE live.nsu = debit.nsu AND live.role = 'payment'
        AND live.original_nsu IS NOT NULL)
      AND NOT EXISTS (SELECT FROM line named
        WHERE named.is_credit AND named.end_to_end_id = debit.original_id)
    UNION ALL
    SELECT live.nsu, live.original_nsu, sum(live.amount_cents)
    FROM live JOIN line debit ON debit.nsu = live.nsu AND NOT debit.is_credit
    WHERE live.role = 'payment' AND live.original_nsu IS NOT NULL
      AND NOT EXISTS (SELECT FROM line named
        WHERE named.is_credit AND named.end_to_end_id = debit.original_id)
    GROUP BY live.nsu, live.original_nsu
    UNION ALL
    SELECT nsu, original_nsu, sum(amount_cents) FROM link GROUP BY nsu, original_nsu
  ), share AS MATERIALIZED (
    SELECT claim.nsu, claim.pix, max(claim.cents) AS cents, true AS is_named FROM claim
    GROUP BY claim.nsu, claim.pix
    UNION ALL
    -- What only the payer ties to a Pix, at most.
    SELECT debit.nsu, pix.nsu, debit.amount_cents, false
    FROM line debit JOIN line pix ON pix.is_credit AND pix.amount_cents >= debit.amount_cents
      AND (pix.counterparty_document = debit.counterparty_document
        OR pix.counterparty = debit.counterparty
          AND (pix.counterparty_document IS NULL OR debit.counterparty_document IS NULL))
      AND pix.occurred_at BETWEEN debit.occurred_at - interval '91 days' AND debit.occurred_at
    WHERE NOT debit.is_credit AND debit.original_id IS NULL
      AND debit.type_name ~* 'REFUND|DEVOL|REVERSAL|RETURN|CHARGEBACK|ESTORNO'
      AND NOT EXISTS (SELECT FROM claim WHERE claim.nsu = debit.nsu)`;

/** What was refunded of each Pix and of each payment, at least and at most. */
const amounts = (accountId: number) => Prisma.sql`
  ), undone AS MATERIALIZED (
    -- What of a debit was reversed, at most: which credit reverses it may be in doubt.
    SELECT share.nsu, share.pix,
           CASE WHEN share.is_named THEN LEAST(share.cents, COALESCE(sum(back.amount_cents), 0))
                ELSE share.cents END AS cents
    FROM share
    JOIN line debit ON debit.nsu = share.nsu
    JOIN line pix ON pix.nsu = share.pix
    LEFT JOIN line back ON back.is_credit AND back.nsu <> share.pix AND (
      debit.end_to_end_id IN (back.end_to_end_id, back.original_end_to_end_id)
      OR back.original_end_to_end_id = pix.end_to_end_id
      OR EXISTS (
        SELECT FROM live reversal JOIN live sent
          ON sent.expected_payment_id = reversal.expected_payment_id AND sent.role = 'payment'
        WHERE reversal.nsu = back.nsu AND reversal.role = 'reversal' AND sent.nsu = debit.nsu))
    GROUP BY share.nsu, share.pix, share.cents, share.is_named
  ), refunded AS MATERIALIZED (
    SELECT share.pix, sum(share.cents) AS most, sum(share.cents - undone.cents) AS least,
           max(debit.occurred_at) AS last_at
    FROM share
    JOIN undone ON undone.nsu = share.nsu AND undone.pix = share.pix
    JOIN line debit ON debit.nsu = share.nsu
    GROUP BY share.pix
  ), open_break AS MATERIALIZED (
    SELECT nsu, kind FROM break
    WHERE account_id = ${accountId} AND state = 'open' AND nsu IS NOT NULL
  ), go_live AS (
    SELECT COALESCE(go_live_at, created_at) AS at FROM bank_account WHERE id = ${accountId}
  ), of_payment AS (
    SELECT paid.expected_payment_id,
           sum(LEAST(paid.amount_cents, CASE
             WHEN paid.amount_cents = pix.amount_cents THEN r.least
             WHEN r.least >= pix.amount_cents THEN paid.amount_cents
             ELSE parts.least END)) AS least,
           sum(LEAST(paid.amount_cents, CASE
             WHEN paid.amount_cents = pix.amount_cents THEN r.most
             WHEN r.most >= pix.amount_cents THEN paid.amount_cents
             ELSE parts.most END)) AS most
    FROM live paid
    JOIN line pix ON pix.nsu = paid.nsu
    JOIN refunded r ON r.pix = paid.nsu
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(link.amount_cents), 0) AS most,
             COALESCE(sum(link.amount_cents) FILTER (WHERE undone.cents = 0), 0) AS least
      FROM link JOIN undone ON undone.nsu = link.nsu AND undone.pix = link.original_nsu
      WHERE link.original_nsu = paid.nsu
        AND link.expected_payment_id = paid.expected_payment_id
    ) parts
    WHERE paid.role = 'payment' AND paid.is_credit
    GROUP BY paid.expected_payment_id
  )`;

/**
 * Where an identity does not hold:
 * - 0 ≤ debits − reversals ≤ received, per Pix, unless its break is open;
 * - a debit is of one Pix, unless its break is open, and in whole or not at all;
 * - a debit that reverses a received payment is of a Pix, by an id, a person or its payer;
 * - the Pix that pay a payment add up to what is stored as refunded of it.
 */
export async function listRefundDifferences(
  db: Db,
  accountId: number,
): Promise<RefundDifference[]> {
  return db.$queryRaw<RefundDifference[]>`
    ${facts(accountId)} ${shares(accountId)} ${amounts(accountId)}
    SELECT 'refunds of Pix ' || r.pix AS subject, 'received ' || pix.amount_cents AS stored,
           'refunded ' || r.least AS computed, r.pix AS nsu, NULL::uuid AS "expectedPaymentId"
    FROM refunded r JOIN line pix ON pix.nsu = r.pix CROSS JOIN go_live
    WHERE r.least < 0 OR r.least > pix.amount_cents AND r.last_at >= go_live.at
      AND NOT EXISTS (SELECT FROM break b
        WHERE b.account_id = ${accountId} AND b.nsu = r.pix AND b.kind = 'over_refunded'
          AND (b.state = 'open' OR b.resolution = 'accept'))
    UNION ALL
    SELECT 'debit ' || debit.nsu, 'amount ' || debit.amount_cents,
           'of Pix ' || of_pix.list || ' ' || of_pix.cents, debit.nsu, NULL
    FROM line debit CROSS JOIN go_live
    JOIN LATERAL (
      SELECT string_agg(share.pix::text, ', ' ORDER BY share.pix) AS list, sum(share.cents) AS cents
      FROM share WHERE share.nsu = debit.nsu AND share.is_named
    ) of_pix ON of_pix.cents IS NOT NULL
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(live.amount_cents), 0) AS cents FROM live
      WHERE live.nsu = debit.nsu AND live.role = 'payment' AND live.original_nsu IS NULL
    ) other
    WHERE of_pix.cents + other.cents <> debit.amount_cents AND debit.occurred_at >= go_live.at
      AND NOT (of_pix.cents > debit.amount_cents
        AND EXISTS (SELECT FROM open_break WHERE open_break.nsu = debit.nsu))
    UNION ALL
    SELECT 'reversal by debit ' || live.nsu, 'of no Pix', 'of payment ' || live.expected_payment_id,
           live.nsu, live.expected_payment_id
    FROM live JOIN line debit ON debit.nsu = live.nsu AND NOT debit.is_credit
    WHERE live.role = 'reversal' AND live.is_credit
      AND NOT EXISTS (SELECT FROM share WHERE share.nsu = live.nsu)
    UNION ALL
    SELECT 'refunded of payment ' || e.id, 'refunded ' || COALESCE(total.refunded_cents, 0),
           'refunded ' || COALESCE(p.least, 0), NULL, e.id
    FROM expected_payment e
    LEFT JOIN expected_payment_total total ON total.account_id = e.account_id
      AND total.expected_payment_id = e.id
    LEFT JOIN of_payment p ON p.expected_payment_id = e.id
    WHERE e.account_id = ${accountId} AND e.is_credit
      AND COALESCE(total.refunded_cents, 0)
        NOT BETWEEN COALESCE(p.least, 0) AND COALESCE(p.most, 0)`;
}
