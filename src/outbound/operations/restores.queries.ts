// What a database that was set back to an earlier time may lack: operations that were sent
// meanwhile, and debits on the statement that no stored operation explains.
import { ongoingRestore, type LostPeriod } from '../../access/accounts/account-restores.queries.js';
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type AccountRestore, type StatementLine } from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
import type { ReferenceKind } from '../../statement/expected-payments/references.js';
import { recordOperationTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { Operation } from './operation.js';
import { accountNumberOf } from './possible-duplicates.queries.js';
import { restoredReason } from './recovery.js';

/**
 * Unfinished operations, also those that await approval, may have been sent at any time between
 * their creation and now, by attempts that the database has lost. One attempt stands for all of
 * that time, so that recovery looks for their effect. Returns the number of operations. With
 * an id, it is that operation alone, which was sent `since`, by the bank's clock.
 */
export async function markUnfinishedOperations(
  tx: Tx,
  accountId: number,
  { id: onlyId = null, since = null }: { id?: string | null; since?: Date | null } = {},
): Promise<number> {
  const marked = await tx.$queryRaw<{ id: string }[]>`
    WITH marked AS (
      UPDATE operation
      SET state = 'unknown', reason = ${restoredReason}, attempts = attempts + 1,
          is_detached = true, next_action_at = clock_timestamp(), updated_at = clock_timestamp()
      WHERE account_id = ${accountId} AND (${onlyId}::uuid IS NULL OR id = ${onlyId}::uuid)
        AND state IN ('received', 'sending', 'unknown', 'awaiting_approval')
      RETURNING account_id, id, attempts, created_at
    )
    INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by,
      clock_offset_ms, clock_offset_max_ms, finished_at, outcome, reason)
    SELECT m.account_id, m.id, m.attempts,
           LEAST(m.created_at,
             ${since}::timestamptz - s.clock_offset_ms * interval '1 millisecond'),
           clock_timestamp(),
           s.clock_offset_ms, s.clock_offset_max_ms, clock_timestamp(), 'unknown',
           ${restoredReason}
    FROM marked m LEFT JOIN statement_state s ON s.account_id = m.account_id
      AND s.clock_measured_at IS NOT NULL
    RETURNING operation_id AS id`;
  for (const { id } of marked) await recordOperationTasks(tx, accountId, id);
  return marked.length;
}

/** A restore that is not over, and what the account still needs before it may be released. */
export interface OngoingRestore extends Pick<AccountRestore, 'accountId' | 'formerMode'> {
  slug: string;
  mode: AccountRestore['formerMode'];
  restoredAt: Date;
  lostFrom: Date;
  /** Whether the statement is closed over everything that may be lost. */
  isClosed: boolean;
  /** Whether every line of that time is decided. */
  isDecided: boolean;
  /** Lines since then that could not be read. */
  unreadableLines: bigint;
  /** Operations without a known outcome. */
  unknownOperations: bigint;
}

/** `boundMs` is the bank's visibility bound: without it, nothing is ever closed. */
export async function listOngoingRestores(
  db: Db,
  boundMs: number | null,
  slug: string | null = null,
): Promise<OngoingRestore[]> {
  return db.$queryRaw<OngoingRestore[]>`
    SELECT b.id AS "accountId", b.slug, b.mode, r.former_mode, r.restored_at, r.lost_from,
           COALESCE(s.clock_measured_at > r.restored_at AND s.closed_from <= r.lost_from
             AND s.closed_until >= r.restored_at
               + (s.clock_offset_max_ms + ${boundMs}::float8) * interval '1 millisecond', false)
             AS "isClosed",
           NOT EXISTS (
             SELECT 1 FROM statement_line l
             WHERE l.account_id = b.id AND l.occurred_at >= r.lost_from
               AND l.occurred_at < s.closed_until
               AND l.arrival > COALESCE((SELECT decided_arrival FROM reconciliation_state
                                         WHERE account_id = b.id), 0)
           ) AS "isDecided",
           (SELECT count(*) FROM unreadable_line u
            WHERE u.account_id = b.id AND u.resolved_at IS NULL AND u.recorded_at >= r.restored_at
           ) AS "unreadableLines",
           (SELECT count(*) FROM operation o WHERE o.account_id = b.id AND o.state = 'unknown')
             AS "unknownOperations"
    FROM bank_account b
    CROSS JOIN LATERAL (${ongoingRestore(Prisma.sql`b.id`)}) r
    LEFT JOIN statement_state s ON s.account_id = b.id
    WHERE (${slug}::text IS NULL OR b.slug = ${slug}::text)
    ORDER BY b.id`;
}

/**
 * Whether a line (l) is a debit that no stored operation explains. It may be the effect of a lost
 * operation also when a rule has classified it or a person has accepted its break.
 */
const isLostDebit = Prisma.sql`(NOT l.is_credit
  AND NOT EXISTS (
    SELECT 1 FROM match m JOIN expected_payment p
      ON p.account_id = m.account_id AND p.id = m.expected_payment_id
    WHERE m.account_id = l.account_id AND m.nsu = l.nsu AND m.unlinked_at IS NULL
      AND m.role = 'payment' AND p.operation_id IS NOT NULL AND NOT p.is_credit))`;

/** The ids of a debit by which its request is recognised, the most reliable first. */
export const lostDebitIds = ['externalId', 'endToEndId', 'billCode', 'originalEndToEndId'] as const;
type LostDebitId = (typeof lostDebitIds)[number];

/** A debit that no stored operation explains. */
export interface LostDebit extends Pick<
  StatementLine,
  'nsu' | 'occurredAt' | 'amountCents' | 'typeName' | 'counterparty' | LostDebitId
> {
  /** Null when the line has no break, for example because a rule has classified it. */
  breakId: string | null;
  breakState: string | null;
}

export async function listLostDebits(
  db: Db,
  { accountId, lostFrom }: Pick<OngoingRestore, 'accountId' | 'lostFrom'>,
  limit: number,
): Promise<LostDebit[]> {
  return db.$queryRaw<LostDebit[]>`
    SELECT l.nsu, l.occurred_at, l.amount_cents, l.type_name, l.counterparty, l.external_id,
           l.end_to_end_id, l.bill_code, l.original_end_to_end_id,
           b.id AS "breakId", b.state AS "breakState"
    FROM statement_line l
    LEFT JOIN LATERAL (
      SELECT id, state FROM break
      WHERE account_id = l.account_id AND nsu = l.nsu ORDER BY state = 'open' DESC, id LIMIT 1
    ) b ON true
    WHERE l.account_id = ${accountId} AND l.occurred_at >= ${lostFrom} AND ${isLostDebit}
    ORDER BY l.occurred_at, l.nsu LIMIT ${limit}`;
}

/** What an operation would repeat. */
export interface RepeatedDebit {
  /** Of the first lost debit that may be the operation's; null if there is none. */
  nsu: bigint | null;
  /** Whether each of its payments has a debit with its amount and an id that the client has. */
  isSame: boolean;
  /** Whether it takes effect later: if it was lost, no debit shows it yet. */
  isScheduled: boolean;
}

/**
 * Finds the lost debits that an operation may repeat. The expected payments of the operation are
 * recorded. A debit with an id of a payment is one; so is a debit with its amount, unless the line
 * shows another receiver, bill or Pix, or another externalId while the client chose new ones. A
 * line without ids contradicts nothing. What was scheduled is debited after the release, as an
 * unrequested debit. The bank itself pays a bill only once.
 */
export async function findRepeatedDebit(
  db: Db,
  operation: Pick<Operation, 'accountId' | 'id' | 'isDistinguishable' | 'effectiveFrom'>,
  { lostFrom, lostUntil }: LostPeriod,
): Promise<RepeatedDebit> {
  const { accountId, id, isDistinguishable, effectiveFrom } = operation;
  const ids = (kind: ReferenceKind, value = Prisma.sql`r.value`) => Prisma.sql`(
    SELECT ${value} FROM expected_payment_reference r
    WHERE r.account_id = e.account_id AND r.expected_payment_id = e.id AND r.kind = ${kind})`;
  const lines = (column: string, values: Prisma.Sql) => Prisma.sql`
    SELECT nsu FROM statement_line
    WHERE account_id = ${accountId} AND ${Prisma.raw(column)} IN ${values}`;
  const [number, ofLine] = ['r.value', 'l.counterparty'].map((text) =>
    accountNumberOf(Prisma.raw(text)),
  );
  // Banks write an account number with or without its check digit.
  const isSameNumber = Prisma.sql`starts_with(${number}, ${ofLine})
    OR starts_with(${ofLine}, ${number})`;
  const isOfReceiver = Prisma.sql`COALESCE(l.counterparty IS NULL
    OR ${ids('counterparty', Prisma.sql`bool_or(${isSameNumber})`)}, true)`;
  const fits = Prisma.sql`(l.bill_code IS NULL AND (l.original_end_to_end_id IS NULL
      AND ${isOfReceiver} AND NOT (l.end_to_end_id IS NOT NULL AND EXISTS ${ids('bill_code')})
    OR l.original_end_to_end_id IN ${ids('original_end_to_end_id')}))`;
  const isNamed = Prisma.sql`(l.external_id IN ${ids('external_id')}
    OR l.end_to_end_id IN ${ids('end_to_end_id')})`;
  const [found] = await db.$queryRaw<RepeatedDebit[]>`
    WITH payment AS (
      SELECT * FROM expected_payment
      WHERE account_id = ${accountId} AND operation_id = ${id}::uuid AND NOT is_credit
    ), debit AS (
      SELECT e.id, l.nsu, l.amount_cents = e.amount_cents AND ${isNamed} AND ${fits} AS is_same
      FROM payment e
      CROSS JOIN LATERAL (
        ${lines('amount_cents', Prisma.sql`(e.amount_cents)`)}
        UNION ${lines('external_id', ids('external_id'))}
        UNION ${lines('end_to_end_id', ids('end_to_end_id'))}
      ) one
      JOIN statement_line l ON l.account_id = ${accountId} AND l.nsu = one.nsu
      WHERE l.occurred_at >= ${lostFrom} AND ${isLostDebit}
        AND (${isNamed} OR l.bill_code IN ${ids('bill_code')}
          OR (${lostUntil}::timestamptz IS NULL OR l.occurred_at < ${lostUntil}::timestamptz
              OR EXISTS (SELECT FROM break b WHERE b.account_id = l.account_id AND b.nsu = l.nsu
                           AND b.kind = 'unrequested_debit'))
            AND NOT (${isDistinguishable} AND l.external_id IS NOT NULL) AND ${fits})
    )
    SELECT (SELECT min(nsu) FROM debit) AS nsu,
           (SELECT count(*) > 0 AND count(*) = (SELECT count(*) FROM payment)
              AND count(DISTINCT d.id) = count(*) AND count(DISTINCT d.nsu) = count(*)
            FROM debit d WHERE d.is_same) AS "isSame",
           ${effectiveFrom}::timestamptz IS NOT NULL AND NOT EXISTS (
             SELECT FROM payment e WHERE EXISTS ${ids('bill_code')}) AS "isScheduled"`;
  invariant(found, 'a query without FROM has one row');
  return found;
}
