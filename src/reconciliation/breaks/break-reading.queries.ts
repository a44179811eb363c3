// SQL that reads breaks.
import type { RouteInput } from '../../bank-contract/route.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { foundRows, type RowOfPage } from '../../platform/http/examined-ids.queries.js';
import { BreakState, Prisma, type Break } from '../../generated/service/client.js';
import { lastUuid } from '../../platform/ids.js';
import type { FoundRows, Page } from '../../platform/http/listing.js';
import type { StoredBreak } from '../load/stored-breaks.queries.js';
import { breakKinds } from '../decide/break-kind-declarations.js';
import { maxBulk, type BulkAction, type listBreaks } from './breaks.schema.js';
import { openedDay, pointsOfBreak } from './severity.queries.js';
import { severities, severityPoints, type Severity, type SeverityScale } from './severity.js';

type BreakFilters = RouteInput<typeof listBreaks>['query'];

/** What a break is shown by. */
export type BreakRow = StoredBreak &
  Pick<Break, 'amountCents' | 'openedAt' | 'openedDay' | 'resolvedAt' | 'resolution'> & {
    evidence: unknown;
  };

const hasSeverity = (severity: Severity | null, scale: SeverityScale): Prisma.Sql => {
  if (severity === null) return Prisma.sql`true`;
  const index = severities.indexOf(severity);
  const from = severityPoints[index - 1] ?? 0;
  const until = severityPoints[index] ?? 1_000;
  return Prisma.sql`b.state = 'open' AND ${pointsOfBreak(scale)} >= ${from}::int
    AND ${pointsOfBreak(scale)} < ${until}::int`;
};

/** The filters are applied to so many breaks, the newest first, and then the page ends. */
const maxExamined = 2_000;

/** Whether an index finds the breaks: each candidate is one of the list. */
function isByKindAndState(filters: BreakFilters): boolean {
  const others = Object.entries(filters).filter(([, value]) => value !== undefined);
  return others.every(([name]) => ['kind', 'state', 'cursor', 'limit'].includes(name));
}

/** A query of the ids that the filters can select, the newest first and no more than `most`. */
function candidateBreaks(
  accountId: number,
  filters: BreakFilters,
  { after, most }: { after: string | null; most: number },
) {
  const { kind = null, nsu = null, expectedPaymentId = null, severity = null } = filters;
  const { state = severity === null ? null : 'open' } = filters;
  const newest = (table: Prisma.Sql, condition: Prisma.Sql) => Prisma.sql`(
    SELECT id FROM ${table} WHERE account_id = ${accountId} AND ${condition}
      ${after === null ? Prisma.empty : Prisma.sql`AND id < ${after}::uuid`}
    ORDER BY id DESC LIMIT ${most})`;
  // Not by the order of ids, in which all breaks might be read for a few.
  const few = (condition: Prisma.Sql) =>
    newest(
      Prisma.sql`(SELECT account_id, id FROM break
        WHERE account_id = ${accountId} AND ${condition} OFFSET 0) few`,
      Prisma.sql`true`,
    );
  if (nsu !== null) return few(Prisma.sql`nsu = ${nsu}`);
  if (expectedPaymentId !== null)
    return few(Prisma.sql`expected_payment_id = ${expectedPaymentId}::uuid`);
  if (kind === null && state === null) return newest(Prisma.sql`break`, Prisma.sql`true`);
  const kinds = kind === null ? Object.keys(breakKinds) : [kind];
  const states = state === null ? Object.values(BreakState) : [state];
  // The bounds and the order are those of the index by state, kind and id. With equality and the
  // order of ids, all breaks might be read for a kind that has none.
  return Prisma.sql`
    SELECT newest.id FROM unnest(${kinds}::text[]) AS one(kind)
    CROSS JOIN unnest(${states}::break_state[]) AS each(state)
    CROSS JOIN LATERAL (
      SELECT id FROM break
      WHERE account_id = ${accountId} AND (state, kind) >= (each.state, one.kind)
        AND (state, kind, id) < (each.state, one.kind, ${after ?? lastUuid}::uuid)
      ORDER BY state DESC, kind DESC, id DESC LIMIT ${most}
    ) newest`;
}

/** One page, newest first. The scale is that of today at the bank. */
export async function listBreakRows(
  db: Db,
  accountId: number,
  filters: BreakFilters,
  { after, limit }: Page,
  scale: SeverityScale,
): Promise<FoundRows<BreakRow>> {
  const { state = null, kind = null, nsu = null, expectedPaymentId = null } = filters;
  const { minAmount = null, maxAmount = null, severity = null } = filters;
  const { openedFrom = null, openedTo = null } = filters;
  const most = isByKindAndState(filters) ? limit + 1 : maxExamined;
  const candidates = candidateBreaks(accountId, filters, { after, most });
  const examined = Prisma.sql`SELECT id FROM (${candidates}) candidate ORDER BY id DESC`;
  const rows = await db.$queryRaw<RowOfPage<BreakRow, string>[]>`
    SELECT page.*, CASE WHEN count(page.id) OVER () <= ${limit} THEN (
      ${examined} OFFSET ${most - 1} LIMIT 1
    ) END AS last_examined
    FROM (SELECT 1) one LEFT JOIN (
      SELECT b.id, b.kind, b.state, b.subject, b.amount_cents, b.nsu, b.expected_payment_id,
             b.evidence, b.opened_at, b.opened_day, b.resolved_at, b.resolution
      FROM (${examined} LIMIT ${most}) examined
      CROSS JOIN LATERAL (
        SELECT * FROM break WHERE account_id = ${accountId} AND id = examined.id OFFSET 0
      ) b
      WHERE (${state}::text IS NULL OR b.state = ${state})
        AND (${kind}::text IS NULL OR b.kind = ${kind})
        AND (${nsu}::bigint IS NULL OR b.nsu = ${nsu}::bigint)
        AND (${expectedPaymentId}::uuid IS NULL
          OR b.expected_payment_id = ${expectedPaymentId}::uuid)
        AND (${minAmount}::bigint IS NULL OR b.amount_cents >= ${minAmount}::bigint)
        AND (${maxAmount}::bigint IS NULL OR b.amount_cents <= ${maxAmount}::bigint)
        AND (${openedFrom}::text IS NULL OR ${openedDay} >= ${openedFrom})
        AND (${openedTo}::text IS NULL OR ${openedDay} <= ${openedTo})
        AND ${hasSeverity(severity, scale)}
      ORDER BY examined.id DESC LIMIT ${limit + 1}
    ) page ON true
    ORDER BY page.id DESC`;
  return foundRows(rows, 'id');
}

/** The oldest breaks that a bulk action selects; leaves out automatically resolved breaks. */
export async function listBreakIds(
  db: Db,
  accountId: number,
  { filter, action }: Pick<BulkAction, 'filter' | 'action'>,
): Promise<string[]> {
  if (!filter) return [];
  const { kind, openedBefore = null, maxAmount = null } = filter;
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT b.id FROM break b
    WHERE b.account_id = ${accountId} AND b.kind = ${kind}
      AND b.state = ${action === 'reopen' ? 'resolved' : 'open'}
      AND (b.state = 'open' OR b.resolution <> 'automatic')
      AND (${openedBefore}::text IS NULL OR ${openedDay} < ${openedBefore})
      AND (${maxAmount}::bigint IS NULL OR b.amount_cents <= ${maxAmount}::bigint)
    ORDER BY b.opened_at, b.id LIMIT ${maxBulk}`;
  return rows.map(({ id }) => id);
}
