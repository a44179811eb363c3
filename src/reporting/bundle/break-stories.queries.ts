// Reads the breaks of a period with what happened to them, page by page.
import type { PlainDate } from '../../brazil/calendar.js';
import { Prisma } from '../../generated/service/client.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { openedDay } from '../../reconciliation/breaks/severity.queries.js';
import type { Window } from '../exports/exports.queries.js';
import type { BreakWithHistory } from './bundle-tables.js';

export type StoryRow = Omit<BreakWithHistory, 'day'> & {
  occurredAt: Date | null;
  day: PlainDate | null;
};

const storyOf = Prisma.sql`
  b.id, b.kind, b.state, b.nsu, b.amount_cents, b.opened_at, b.resolved_at, b.resolution,
  b.resolved_by, b.resolution_reason, history.changes, history.changed_at,
  (SELECT count(*) FROM break_comment c
   WHERE c.account_id = b.account_id AND c.break_id = b.id) AS comments`;

const historyOf = Prisma.sql`
  CROSS JOIN LATERAL (
    SELECT count(*) AS changes, max(created_at) AS changed_at FROM break_history_entry
    WHERE account_id = b.account_id AND break_id = b.id
      AND action IN ('revised', 'resolved', 'reopened')
  ) history`;

/** The breaks of the window's lines after a line and a break, in nsu order. */
export async function listStoriesOfLines(
  db: Db,
  accountId: number,
  page: Window & { afterNsu: bigint; afterId: string; lastNsu: bigint; limit: number },
): Promise<StoryRow[]> {
  return db.$queryRaw<StoryRow[]>`
    SELECT ${storyOf}, t.occurred_at, NULL AS day, t.is_credit
    FROM break b
    JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
    ${historyOf}
    WHERE b.account_id = ${accountId} AND b.nsu >= ${page.afterNsu} AND b.nsu <= ${page.lastNsu}
      AND (b.nsu, b.id) > (${page.afterNsu}::bigint, ${page.afterId}::uuid)
      AND t.occurred_at >= ${page.from} AND t.occurred_at < ${page.until}
    ORDER BY b.nsu, b.id LIMIT ${page.limit}`;
}

/** The breaks without a line of these days after a break: of the due day, or of their opening. */
export async function listOtherStories(
  db: Db,
  accountId: number,
  page: { firstDay: PlainDate; lastDay: PlainDate; afterId: string; limit: number },
): Promise<StoryRow[]> {
  return db.$queryRaw<StoryRow[]>`
    SELECT * FROM (
      SELECT ${storyOf}, NULL::timestamptz AS occurred_at,
             COALESCE(e.due_date, ${openedDay}) AS day, e.is_credit
      FROM break b
      LEFT JOIN expected_payment e
        ON e.account_id = b.account_id AND e.id = b.expected_payment_id
      ${historyOf}
      WHERE b.account_id = ${accountId} AND b.nsu IS NULL AND b.id > ${page.afterId}::uuid
    ) story
    WHERE day BETWEEN ${page.firstDay} AND ${page.lastDay}
    ORDER BY id LIMIT ${page.limit}`;
}
