// Reads which outcomes changed, and whether a day is decided.
import { opaqueAccountId, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { statementDayIn } from '../../statement/lines/bank-clock.queries.js';
import type { LineSpan } from './day-lines.queries.js';

/** The sequence of the account's last change of outcomes; 0 before the first. */
export async function readOutcomeSequence(db: Db, accountId: number): Promise<bigint> {
  const state = await db.reconciliationState.findUnique({
    where: { accountId },
    select: { outcomeSequence: true },
  });
  return state?.outcomeSequence ?? 0n;
}

/** No outcome of the account and no decision of a person changes until the transaction ends. */
export async function lockOutcomes(tx: Tx, accountId: number): Promise<void> {
  await tx.$queryRaw`
    SELECT FROM reconciliation_state WHERE account_id = ${accountId} FOR SHARE`;
}

/** Outcomes (f) of lines of the span that were replaced after the span's sequence. */
const replacedIn = ({ accountId, from, until, outcomeSequence }: LineSpan) => Prisma.sql`
  former_outcome f
  JOIN statement_line t ON t.account_id = f.account_id AND t.nsu = f.nsu
  WHERE f.account_id = ${opaqueAccountId(accountId)} AND f.until_sequence > ${outcomeSequence}
    AND t.occurred_at < ${until}
    AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)`;

/** The lines of the span whose outcome changed after the span's sequence, up to another; by nsu. */
export async function listChangedNsus(
  db: Db,
  span: LineSpan,
  untilSequence: bigint,
): Promise<bigint[]> {
  const rows = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT DISTINCT f.nsu FROM ${replacedIn(span)}
      AND f.until_sequence <= ${untilSequence}
    ORDER BY f.nsu`;
  return rows.map(({ nsu }) => nsu);
}

/** Whether the outcome of a line of the span changed after the span's sequence. */
export async function hasChangedOutcome(db: Db, span: LineSpan): Promise<boolean> {
  const [found] = await db.$queryRaw<{ hasChanged: boolean }[]>`
    SELECT EXISTS (SELECT FROM ${replacedIn(span)}) AS "hasChanged"`;
  return found?.hasChanged === true;
}

/** Whether a line of the span has no outcome yet, or waits for one. */
export async function isUndecided(
  db: Db,
  { accountId, from, until, lastArrival }: LineSpan,
): Promise<boolean> {
  const [found] = await db.$queryRaw<{ isUndecided: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM line_outcome o
      JOIN statement_line t ON t.account_id = o.account_id AND t.nsu = o.nsu
      WHERE o.account_id = ${accountId} AND o.state = 'pending' AND t.occurred_at < ${until}
        AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)
    ) OR EXISTS (
      SELECT FROM statement_line t
      WHERE t.account_id = ${accountId} AND t.arrival <= ${lastArrival}
        AND t.arrival > COALESCE(
          (SELECT decided_arrival FROM reconciliation_state WHERE account_id = ${accountId}), 0)
        AND t.occurred_at < ${until}
        AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)
        AND NOT EXISTS (
          SELECT FROM line_outcome o WHERE o.account_id = t.account_id AND o.nsu = t.nsu)
    ) AS "isUndecided"`;
  return found?.isUndecided === true;
}

/** A certified line whose outcome changed since; the leaves are in hexadecimal. */
export interface OutcomeChange {
  nsu: bigint;
  formerLeaf: string;
  leaf: string;
  /** The sequence at which the certified outcome was replaced. Changes are in its order. */
  changedAt: bigint;
}

/** The changes after the sequence of one certificate, up to that of the next. */
export interface ChangeRange {
  accountId: number;
  /** The number of the next certificate in the chain. */
  certificate: number;
  afterSequence: bigint;
  untilSequence: bigint;
}

/** The statement day of a line (t). */
const dayOfLine = statementDayIn(Prisma.sql`t.occurred_at`);

/**
 * The next `limit` changes of certified outcomes, by sequence and nsu, after the last one before.
 */
export async function listOutcomeChanges(
  db: Db,
  { accountId, certificate, afterSequence, untilSequence }: ChangeRange,
  last: Pick<OutcomeChange, 'changedAt' | 'nsu'> | null,
  limit: number,
): Promise<OutcomeChange[]> {
  const after = last ?? { changedAt: afterSequence, nsu: null };
  return db.$queryRaw<OutcomeChange[]>`
    SELECT f.nsu, encode(f.leaf_hash, 'hex') AS "formerLeaf", encode(o.leaf_hash, 'hex') AS leaf,
           f.until_sequence AS "changedAt"
    FROM former_outcome f
    JOIN statement_line t ON t.account_id = f.account_id AND t.nsu = f.nsu
    CROSS JOIN LATERAL (
      -- The lines before the first certified day are in the certificate of that day.
      SELECT GREATEST(${dayOfLine}, (
        SELECT date FROM day_close WHERE account_id = ${accountId} ORDER BY sequence LIMIT 1
      )) AS date
    ) day
    CROSS JOIN LATERAL (
      SELECT last_arrival FROM day_close c
      WHERE c.account_id = ${accountId} AND c.date = day.date AND c.sequence < ${certificate}
      ORDER BY c.revision DESC LIMIT 1
    ) certified
    CROSS JOIN LATERAL (
      SELECT leaf_hash FROM line_outcome
      WHERE account_id = ${accountId} AND nsu = f.nsu AND sequence <= ${untilSequence}
      UNION ALL
      SELECT leaf_hash FROM former_outcome
      WHERE account_id = ${accountId} AND nsu = f.nsu AND sequence <= ${untilSequence}
        AND until_sequence > ${untilSequence}
    ) o
    WHERE f.account_id = ${opaqueAccountId(accountId)} AND f.sequence <= ${afterSequence}
      AND (f.until_sequence > ${after.changedAt}
        OR f.until_sequence = ${after.changedAt} AND f.nsu > ${after.nsu}::bigint)
      AND f.until_sequence > ${afterSequence} AND f.until_sequence <= ${untilSequence}
      AND t.arrival <= certified.last_arrival
    ORDER BY f.until_sequence, f.nsu LIMIT ${limit}`;
}
