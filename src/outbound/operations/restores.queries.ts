// What a database that was set back to an earlier time may lack: operations that were sent
// meanwhile, and debits on the statement that no stored operation explains.
import { ongoingRestore, type LostPeriod } from '../../access/accounts/account-restores.queries.js';
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type AccountRestore } from '../../generated/service/client.js';
import { recordOperationTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { Operation } from './operation.js';
import { restoredReason } from './recovery.js';

/**
 * Unfinished operations, also those that await approval, may have been sent at any time between
 * their creation and now, by attempts that the database has lost. One attempt stands for all of
 * that time, so that recovery looks for their effect. Returns the number of operations.
 */
export async function markUnfinishedOperations(tx: Tx, accountId: number): Promise<number> {
  const marked = await tx.$queryRaw<{ id: string }[]>`
    WITH marked AS (
      UPDATE operation
      SET state = 'unknown', reason = ${restoredReason}, attempts = attempts + 1,
          is_detached = true, next_action_at = clock_timestamp(), updated_at = clock_timestamp()
      WHERE account_id = ${accountId}
        AND state IN ('received', 'sending', 'unknown', 'awaiting_approval')
      RETURNING account_id, id, attempts, created_at
    )
    INSERT INTO operation_attempt (account_id, operation_id, number, started_at, send_by,
      clock_offset_ms, clock_offset_max_ms, finished_at, outcome, reason)
    SELECT m.account_id, m.id, m.attempts, m.created_at, clock_timestamp(),
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

/** A debit that no stored operation explains. */
export interface LostDebit {
  nsu: bigint;
  occurredAt: Date;
  amountCents: bigint;
  typeName: string;
  counterparty: string | null;
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
    SELECT l.nsu, l.occurred_at, l.amount_cents, l.type_name, l.counterparty,
           b.id AS "breakId", b.state AS "breakState"
    FROM statement_line l
    LEFT JOIN LATERAL (
      SELECT id, state FROM break
      WHERE account_id = l.account_id AND nsu = l.nsu ORDER BY state = 'open' DESC, id LIMIT 1
    ) b ON true
    WHERE l.account_id = ${accountId} AND l.occurred_at >= ${lostFrom} AND ${isLostDebit}
    ORDER BY l.occurred_at, l.nsu LIMIT ${limit}`;
}

/**
 * The nsu of a lost debit that an operation would repeat: a debit with an id of its payment; or
 * with the amount, and with the bill, the refunded Pix or the counterparty. The expected payments
 * of the operation are recorded. If the client has chosen new externalIds, a debit with another
 * externalId is another payment. A bill that was scheduled is debited later, so its debits count
 * whenever they occur.
 */
export async function findRepeatedDebit(
  db: Db,
  { accountId, id, isDistinguishable }: Pick<Operation, 'accountId' | 'id' | 'isDistinguishable'>,
  { lostFrom, lostUntil }: LostPeriod,
): Promise<bigint | null> {
  const has = (column: string, kind: string) => Prisma.sql`${Prisma.raw(column)} IN (
    SELECT r.value FROM expected_payment_reference r
    WHERE r.account_id = e.account_id AND r.expected_payment_id = e.id AND r.kind = ${kind})`;
  const [found] = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT l.nsu FROM expected_payment e JOIN statement_line l ON l.account_id = e.account_id
    WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid AND NOT e.is_credit
      AND l.occurred_at >= ${lostFrom} AND ${isLostDebit}
      AND (${has('l.external_id', 'external_id')} OR ${has('l.end_to_end_id', 'end_to_end_id')}
        OR l.amount_cents = e.amount_cents AND (${has('l.bill_code', 'bill_code')}
          OR (${lostUntil}::timestamptz IS NULL OR l.occurred_at < ${lostUntil}::timestamptz)
            AND NOT (${isDistinguishable} AND l.external_id IS NOT NULL)
            AND (${has('l.original_end_to_end_id', 'original_end_to_end_id')}
              -- An account of the bank itself is written as its number alone or in full.
              OR l.original_end_to_end_id IS NULL
                AND (${has('l.counterparty', 'counterparty')}
                  OR ${has(`split_part(l.counterparty, '/', 3)`, 'counterparty')}))))
    ORDER BY l.occurred_at, l.nsu LIMIT 1`;
  return found?.nsu ?? null;
}
