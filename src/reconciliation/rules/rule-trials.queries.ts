// History as a trial of a rule reads it, a page at a time, and what came of trials.
import type { Db } from '../../database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { isStanding, lineColumns, type CompetingLine } from './rule-candidates.queries.js';
import type { VersionKey } from './rules.queries.js';

export interface Period {
  from: Date;
  until: Date;
}

/** A line of history: what rules decide about it, or that ids or a person do. */
export interface PastLine extends CompetingLine {
  isByRule: boolean;
  /** A match that ids or a person made. */
  isMatched: boolean;
}

/** The first of the period's lines after one, by time and number. */
export async function pageOfHistory(
  db: Db,
  accountId: number,
  { from, until }: Period,
  { after, limit }: { after: { occurredAt: Date; nsu: bigint } | null; limit: number },
): Promise<PastLine[]> {
  const { occurredAt, nsu } = after ?? { occurredAt: from, nsu: -1n };
  return db.$queryRaw<PastLine[]>`
    WITH page AS MATERIALIZED (
      SELECT * FROM statement_line
      WHERE account_id = ${accountId} AND occurred_at >= ${occurredAt} AND occurred_at < ${until}
        AND (occurred_at, nsu) > (${occurredAt}, ${nsu}::bigint)
      ORDER BY occurred_at, nsu LIMIT ${limit}
    )
    SELECT ${lineColumns}, stands.kind AS standing, COALESCE(m.is_declared, c.rule = 'declared', false) AS "isByRule",
           m.is_declared IS NOT NULL AND NOT m.is_declared AS "isMatched"
    FROM page t
    LEFT JOIN LATERAL (
      -- By its line, whatever the statistics say, or before there are any.
      SELECT b.kind FROM (SELECT * FROM break WHERE account_id = ${accountId} AND nsu = t.nsu OFFSET 0) b
      WHERE ${isStanding} LIMIT 1
    ) stands ON true
    LEFT JOIN LATERAL (
      SELECT bool_and(rule = 'declared') AS is_declared FROM match
      WHERE account_id = ${accountId} AND nsu = t.nsu AND unlinked_at IS NULL
    ) m ON true
    LEFT JOIN classification c ON c.account_id = ${accountId} AND c.nsu = t.nsu
    ORDER BY t.occurred_at, t.nsu`;
}

/** The line's match may be made another as far as a trial goes, also where its window is closed. */
export function isWithin({ from, until }: Period): Prisma.Sql {
  return Prisma.sql`t.occurred_at >= ${from} AND t.occurred_at < ${until}`;
}

export async function insertTrial(
  db: Db,
  accountId: number,
  { ruleId, version }: VersionKey,
  trial: Period & { id: string; result: object },
): Promise<Date> {
  const [row] = await db.$queryRaw<{ createdAt: Date }[]>`
    INSERT INTO rule_trial (account_id, id, rule_id, version, "from", until, result, created_at)
    VALUES (${accountId}, ${trial.id}::uuid, ${ruleId}::uuid, ${version}, ${trial.from}, ${trial.until},
            ${JSON.stringify(trial.result)}::jsonb, clock_timestamp())
    RETURNING created_at AS "createdAt"`;
  return row?.createdAt ?? trial.until;
}
