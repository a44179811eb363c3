// SQL of rule trials: reads history page by page and stores results.
import type { Db } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { isUndecidedBreak, lineColumns, type CompetingLine } from './rule-candidates.queries.js';
import type { VersionKey } from './rules.queries.js';

export interface TrialPeriod {
  from: Date;
  until: Date;
}

/** A past line, and whether a rule, a reference or a person decided it. */
export interface HistoryLine extends CompetingLine {
  isByRule: boolean;
  /** Whether the line is matched by reference or manually. */
  isMatched: boolean;
}

/** One page of the period's lines after a given line, by time and nsu. */
export async function pageHistoryLines(
  db: Db,
  accountId: number,
  { from, until }: TrialPeriod,
  { after, limit }: { after: { occurredAt: Date; nsu: bigint } | null; limit: number },
): Promise<HistoryLine[]> {
  const { occurredAt, nsu } = after ?? { occurredAt: from, nsu: -1n };
  return db.$queryRaw<HistoryLine[]>`
    WITH page AS MATERIALIZED (
      SELECT * FROM statement_line
      WHERE account_id = ${accountId} AND occurred_at >= ${occurredAt} AND occurred_at < ${until}
        AND (occurred_at, nsu) > (${occurredAt}, ${nsu}::bigint)
      ORDER BY occurred_at, nsu LIMIT ${limit}
    )
    SELECT ${lineColumns}, open_break.kind AS "breakKind",
           COALESCE(m.is_declared, c.rule = 'declared', false) AS "isByRule",
           m.is_declared IS NOT NULL AND NOT m.is_declared AS "isMatched"
    FROM page t
    LEFT JOIN LATERAL (
      -- OFFSET 0 makes PostgreSQL search by the line even without statistics.
      SELECT b.kind FROM (
        SELECT * FROM break WHERE account_id = ${accountId} AND nsu = t.nsu OFFSET 0
      ) b
      WHERE ${isUndecidedBreak} LIMIT 1
    ) open_break ON true
    LEFT JOIN LATERAL (
      SELECT bool_and(rule = 'declared') AS is_declared FROM match
      WHERE account_id = ${accountId} AND nsu = t.nsu AND unlinked_at IS NULL
    ) m ON true
    LEFT JOIN classification c ON c.account_id = ${accountId} AND c.nsu = t.nsu
    ORDER BY t.occurred_at, t.nsu`;
}

/** A trial decides every line of its period again, also in closed periods. */
export function isInTrialPeriod({ from, until }: TrialPeriod): Prisma.Sql {
  return Prisma.sql`t.occurred_at >= ${from} AND t.occurred_at < ${until}`;
}

export async function insertRuleTrial(
  db: Db,
  accountId: number,
  { ruleId, version }: VersionKey,
  trial: TrialPeriod & { id: string; result: object },
): Promise<Date> {
  const [row] = await db.$queryRaw<{ createdAt: Date }[]>`
    INSERT INTO rule_trial (account_id, id, rule_id, version, "from", until, result, created_at)
    VALUES (${accountId}, ${trial.id}::uuid, ${ruleId}::uuid, ${version}, ${trial.from},
            ${trial.until}, ${JSON.stringify(trial.result)}::jsonb, clock_timestamp())
    RETURNING created_at`;
  return row?.createdAt ?? trial.until;
}
