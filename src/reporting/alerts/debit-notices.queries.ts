// Reads the debits of which somebody may be notified, with what lies outside their components.
import { opaqueAccountId, type Reader } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { isFee } from '../../reconciliation/load/fees.queries.js';
import { linesElsewhere } from '../../reconciliation/load/line-facts.queries.js';
import { ownKinds } from '../../reconciliation/decide/debit-evidence.js';
import { noEvidence } from '../../reconciliation/decide/debit-notice.js';
import type { FoundDebit } from './debit-notices.js';

/** `isFee`: it is classified as a fee. */
export type NotedDebit = Omit<FoundDebit, 'isPricedFee'> & { isFee: boolean };

/** Older ones are listed as breaks only. */
const shownDays = 7;
/** The newest, beside those with an open alert; an account with more has a person at work on it. */
const maxDebits = 5_000;

const l = Prisma.sql`l`;

/** Whether the debit (l), or what the accounts are, shows one holder of both accounts. */
const hasSameHolder = (accountId: number) => Prisma.sql`(l.has_one_holder
  OR other.bank_details ->> 'holderTaxId' = (
    SELECT bank_details ->> 'holderTaxId' FROM bank_account WHERE id = ${accountId}))`;

/** The credit of the debit (l) in another account of the service, as its statement shows it. */
const creditElsewhere = (accountId: number) => Prisma.sql`EXISTS (
  SELECT FROM ${linesElsewhere(l)}
  WHERE other.id <> ${accountId} AND ${hasSameHolder(accountId)}
    AND moved.is_credit AND moved.amount_cents = l.amount_cents)`;

/** Whether the payee of the debit (l) is another account of the service, by its bank details. */
const paysOwnAccount = (accountId: number) => Prisma.sql`EXISTS (
  SELECT FROM bank_account other, to_jsonb(other.bank_details) d
  WHERE other.id <> ${accountId} AND ${hasSameHolder(accountId)}
    AND l.counterparty IN (
      (d ->> 'ispb') || '/' || (d ->> 'branch') || '/' || (d ->> 'accountNumber'),
      (d ->> 'ispb') || '/' || (d ->> 'branch') || '/' || (d ->> 'accountNumber')
        || COALESCE(d ->> 'accountDigit', '')))`;

/** Whether a debit (d, of the line l) is counted in one alert: before what is noted by itself. */
const isCounted = Prisma.sql`((d.evidence ->> 'isEarlier')::boolean
  OR l.recorded_at + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond'
    - l.occurred_at > interval '24 hours')`;

const notedOf = (accountId: number, among: Prisma.Sql) => Prisma.sql`
  ${among} d
  CROSS JOIN LATERAL (
    SELECT * FROM statement_line
    WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = d.nsu OFFSET 0
  ) l
  LEFT JOIN statement_state s ON s.account_id = d.account_id
  WHERE d.account_id = ${opaqueAccountId(accountId)}`;

/** For how many days people see on which debits a stop would have acted. */
export const previewDays = 90;

/**
 * What was noted in the last days, and debits with a break that somebody has resolved since: by
 * then, nothing explained them, or they had an id of our operation, but not its amount, or paid it
 * twice.
 */
const everNoted = (accountId: number) => Prisma.sql`(
  SELECT account_id, nsu, evidence, found_at FROM noted_debit
  WHERE account_id = ${opaqueAccountId(accountId)}
    AND found_at > clock_timestamp() - ${previewDays} * interval '1 day'
  UNION ALL
  (SELECT DISTINCT ON (b.nsu) b.account_id, b.nsu,
         ${JSON.stringify(noEvidence)}::jsonb || jsonb_build_object('own', CASE b.kind
           WHEN 'amount_mismatch' THEN 'differs' WHEN 'duplicate_payment' THEN 'second' END),
         b.opened_at
  FROM break b
  LEFT JOIN expected_payment e
    ON e.account_id = b.account_id AND e.id = b.expected_payment_id
  WHERE b.account_id = ${opaqueAccountId(accountId)}
    AND (b.kind = 'unrequested_debit'
      OR b.kind IN ('amount_mismatch', 'duplicate_payment')
        AND (b.expected_payment_id IS NULL OR e.operation_id IS NOT NULL)
        AND (b.kind = 'duplicate_payment' OR EXISTS (
          SELECT FROM jsonb_array_elements(b.evidence -> 'candidates') one
          WHERE one ->> 'referenceKind' = ANY (${[...ownKinds]}::text[])))
        AND EXISTS (
          SELECT FROM statement_line d
          WHERE d.account_id = b.account_id AND d.nsu = b.nsu AND NOT d.is_credit))
    AND b.opened_at > clock_timestamp() - ${previewDays} * interval '1 day'
    AND NOT EXISTS (
      SELECT FROM noted_debit n WHERE n.account_id = b.account_id AND n.nsu = b.nsu)
  ORDER BY b.nsu, b.opened_at DESC, b.id))`;

const isRecent = Prisma.sql`d.found_at > clock_timestamp() - ${shownDays} * interval '1 day'`;

/** How many debits are counted in one alert. */
export async function countEarlierDebits(db: Reader, accountId: number): Promise<number> {
  const [row] = await db.$queryRaw<{ debits: number }[]>`
    SELECT count(*)::int AS debits
    FROM ${notedOf(accountId, Prisma.sql`noted_debit`)} AND ${isRecent} AND ${isCounted}`;
  return row?.debits ?? 0;
}

/** The others. One with an open alert is among them whatever its age. */
export async function listNotedDebits(db: Reader, accountId: number): Promise<NotedDebit[]> {
  const shown = Prisma.sql`(
    (SELECT d.* FROM ${notedOf(accountId, Prisma.sql`noted_debit`)}
       AND ${isRecent} AND NOT ${isCounted}
     ORDER BY d.found_at DESC LIMIT ${maxDebits})
    UNION
    SELECT d.* FROM alert a JOIN noted_debit d
      ON d.account_id = a.account_id AND d.nsu = (a.detail ->> 'nsu')::bigint
    WHERE a.account_id = ${accountId} AND a.state <> 'cleared' AND a.detail ? 'debit')`;
  return readDebits(db, accountId, shown);
}

/** Each debit of the last 90 days of which somebody may have been notified, but earlier ones. */
export function listDebitsEverNoted(db: Reader, accountId: number): Promise<NotedDebit[]> {
  return readDebits(db, accountId, everNoted(accountId));
}

function readDebits(db: Reader, accountId: number, shown: Prisma.Sql): Promise<NotedDebit[]> {
  return db.$queryRaw`
    SELECT d.nsu, d.evidence, l.amount_cents, l.type_name, l.counterparty, l.occurred_at,
           false AS "isLate",
           l.recorded_at <= clock_timestamp() - interval '60 seconds' AS "hasWaited",
           EXISTS (
             SELECT FROM statement_line pix
             JOIN dispute ON dispute.account_id = pix.account_id
               AND dispute.end_to_end_id = pix.end_to_end_id AND dispute.status <> 'rejected'
             WHERE pix.account_id = d.account_id
               AND pix.nsu = (d.evidence ->> 'refundOfNsu')::bigint
           ) AS "isDisputed",
           ${isFee(l)} AS "isFee",
           CASE WHEN ${creditElsewhere(accountId)} THEN 'credited'
                WHEN ${paysOwnAccount(accountId)} THEN 'expected'
                WHEN l.has_one_holder THEN 'same_tax_id' END AS "ownAccount"
    FROM ${notedOf(accountId, shown)} AND NOT ${isCounted}`;
}
