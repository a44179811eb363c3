// What changed in closed months since their reports, from the facts: lines that came later, and
// outcomes that replaced those of the report. Nothing is written when a fact changes.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { statementDayIn } from '../../statement/lines/bank-clock.queries.js';
import type { Window } from '../exports/exports.queries.js';
import type { ReportCut } from './month-state.js';

export interface AmendedSpan extends Window {
  accountId: number;
  /** Changes after it count. */
  since: ReportCut;
}

export interface MonthAmendment {
  nsu: bigint;
  day: string;
  /** The outcome of the report; null for a line that it does not have. */
  fromState: string | null;
  fromLabel: string | null;
  toState: string;
  toLabel: string | null;
  /** Of the line, negative for a debit. */
  effectCents: bigint;
}

export interface AmendmentSums {
  lines: number;
  /** By how much the closing balance of the month differs from the report. */
  balanceCents: bigint;
  /** The amounts of lines whose outcome is another one. */
  outcomeCents: bigint;
}

const signed = Prisma.sql`CASE WHEN t.is_credit THEN t.amount_cents ELSE -t.amount_cents END`;

const changesSince = ({ accountId, from, until, since }: AmendedSpan) => Prisma.sql`
  SELECT t.nsu, t.occurred_at, ${signed} AS effect_cents, NULL::text AS from_state,
         NULL::text AS from_label
  FROM statement_line t
  WHERE t.account_id = ${opaqueAccountId(accountId)} AND t.arrival > ${since.lastArrival}
    AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
  UNION ALL
  SELECT t.nsu, t.occurred_at, ${signed}, f.state::text, f.label
  FROM former_outcome f
  JOIN statement_line t ON t.account_id = f.account_id AND t.nsu = f.nsu
  WHERE f.account_id = ${opaqueAccountId(accountId)}
    AND f.until_sequence > ${since.outcomeSequence} AND f.sequence <= ${since.outcomeSequence}
    AND t.arrival <= ${since.lastArrival}
    AND t.occurred_at >= ${from} AND t.occurred_at < ${until}`;

/** In the order of their nsu. */
export async function listAmendments(
  db: Db,
  span: AmendedSpan,
  limit: number,
): Promise<MonthAmendment[]> {
  return db.$queryRaw<MonthAmendment[]>`
    SELECT c.nsu, ${statementDayIn(Prisma.sql`c.occurred_at`)} AS day, c.from_state, c.from_label,
           COALESCE(o.state::text, 'pending') AS "toState", o.label AS "toLabel", c.effect_cents
    FROM (${changesSince(span)}) c
    LEFT JOIN line_outcome o ON o.account_id = ${span.accountId} AND o.nsu = c.nsu
    ORDER BY c.nsu LIMIT ${limit}`;
}

export async function sumAmendments(db: Db, span: AmendedSpan): Promise<AmendmentSums> {
  const [sums] = await db.$queryRaw<AmendmentSums[]>`
    SELECT count(*)::int AS lines,
           COALESCE(sum(effect_cents) FILTER (WHERE from_state IS NULL), 0)::bigint
             AS "balanceCents",
           COALESCE(sum(abs(effect_cents)) FILTER (WHERE from_state IS NOT NULL), 0)::bigint
             AS "outcomeCents"
    FROM (${changesSince(span)}) c`;
  return sums ?? { lines: 0, balanceCents: 0n, outcomeCents: 0n };
}

/** How far the facts of the account go. */
export async function readCut(db: Db, accountId: number): Promise<ReportCut> {
  const [cut] = await db.$queryRaw<ReportCut[]>`
    SELECT COALESCE((SELECT outcome_sequence FROM reconciliation_state
                     WHERE account_id = ${accountId}), 0) AS "outcomeSequence",
           COALESCE((SELECT max(arrival) FROM statement_line
                     WHERE account_id = ${opaqueAccountId(accountId)}), 0) AS "lastArrival"`;
  return cut ?? { outcomeSequence: 0n, lastArrival: 0n };
}
