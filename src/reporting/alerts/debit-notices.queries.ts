// Reads the debits of which somebody may be notified, with what lies outside their components.
import { opaqueAccountId, type Reader } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { isFee } from '../../reconciliation/load/fees.queries.js';
import type { FoundDebit } from './debit-notices.js';

/** Older ones are listed as breaks only. */
const shownDays = 7;
/** The newest; an account with more has a person at work on it. */
const maxDebits = 5_000;

const l = Prisma.sql`l`;

/** The credit of the debit (l) in another account of the service, as its statement shows it. */
const creditElsewhere = (accountId: number) => Prisma.sql`EXISTS (
  SELECT FROM bank_account other
  CROSS JOIN LATERAL (
    SELECT is_credit, amount_cents FROM statement_line
    WHERE account_id = other.id AND end_to_end_id = l.end_to_end_id
    UNION ALL
    SELECT is_credit, amount_cents FROM statement_line
    WHERE account_id = other.id AND movement_id = l.movement_id
  ) credit
  WHERE other.id <> ${accountId} AND credit.is_credit AND credit.amount_cents = l.amount_cents)`;

/** Whether the payee of the debit (l) is another account of the service, by its bank details. */
const paysOwnAccount = (accountId: number) => Prisma.sql`EXISTS (
  SELECT FROM bank_account other, to_jsonb(other.bank_details) d
  WHERE other.id <> ${accountId}
    AND l.counterparty IN (
      (d ->> 'ispb') || '/' || (d ->> 'branch') || '/' || (d ->> 'accountNumber'),
      (d ->> 'ispb') || '/' || (d ->> 'branch') || '/' || (d ->> 'accountNumber')
        || COALESCE(d ->> 'accountDigit', '')))`;

export async function listNotedDebits(db: Reader, accountId: number): Promise<FoundDebit[]> {
  return db.$queryRaw`
    SELECT d.nsu, d.evidence, l.amount_cents, l.type_name, l.counterparty, l.occurred_at,
           l.recorded_at + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'
             - l.occurred_at > interval '24 hours' AS "isLate",
           l.recorded_at <= clock_timestamp() - interval '60 seconds' AS "hasWaited",
           EXISTS (
             SELECT FROM statement_line pix
             JOIN dispute ON dispute.account_id = pix.account_id
               AND dispute.end_to_end_id = pix.end_to_end_id
             WHERE pix.account_id = d.account_id
               AND pix.nsu = (d.evidence ->> 'refundOfNsu')::bigint
           ) AS "isDisputed",
           ${isFee(l)} AND EXISTS (
             SELECT FROM price_list p WHERE p.account_id = d.account_id) AS "isPricedFee",
           CASE WHEN ${creditElsewhere(accountId)} THEN 'credited'
                WHEN ${paysOwnAccount(accountId)} THEN 'expected'
                WHEN l.has_one_holder THEN 'same_tax_id' END AS "ownAccount"
    FROM noted_debit d
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = d.nsu OFFSET 0
    ) l
    LEFT JOIN statement_state s ON s.account_id = d.account_id
    WHERE d.account_id = ${opaqueAccountId(accountId)}
      AND d.found_at > clock_timestamp() - ${shownDays} * interval '1 day'
    ORDER BY d.found_at DESC LIMIT ${maxDebits}`;
}
