// SQL that reads breaks.
import type { RouteInput } from '../../contract/route.js';
import type { Db } from '../../database.service.js';
import { Prisma, type Break } from '../../generated/service/client.js';
import type { Page } from '../../platform/listing.js';
import type { StoredBreak } from '../breaks.queries.js';
import { urgentKinds } from '../decide/break-kinds.js';
import { maxBulk, type BulkAction, type listBreaks } from './breaks.schema.js';
import {
  amountSteps,
  pointsWithoutAmount,
  urgentPoints,
  severities,
  severitySteps,
  type Severity,
} from './severity.js';

type BreakFilters = RouteInput<typeof listBreaks>['query'];

/** What a break is shown by. */
export type BreakRow = StoredBreak &
  Pick<Break, 'amountCents' | 'openedAt' | 'openedDay' | 'resolvedAt' | 'resolution'> & {
    evidence: unknown;
  };

// A break without a recorded day at the bank uses the day of PostgreSQL's clock.
const openedDay = Prisma.sql`COALESCE(b.opened_day,
  to_char(b.opened_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD'))`;

/** The points of `severityOf`, for an open break. */
const points = (cutoffs: string[]) => Prisma.sql`GREATEST(
  CASE WHEN b.amount_cents IS NULL THEN ${pointsWithoutAmount}::int
       ELSE (SELECT count(*) FROM unnest(${[...amountSteps]}::bigint[]) step
             WHERE b.amount_cents >= step) END
  + (SELECT count(*) FROM unnest(${cutoffs}::text[]) cutoff WHERE ${openedDay} <= cutoff),
  CASE WHEN b.kind = ANY (${[...urgentKinds]}::text[]) THEN ${urgentPoints}::int ELSE 0 END)`;

const hasSeverity = (severity: Severity | null, cutoffs: string[]): Prisma.Sql => {
  if (severity === null) return Prisma.sql`true`;
  const index = severities.indexOf(severity);
  const from = severitySteps[index - 1] ?? 0;
  const until = severitySteps[index] ?? 1_000;
  return Prisma.sql`b.state = 'open' AND ${points(cutoffs)} >= ${from}::int
    AND ${points(cutoffs)} < ${until}::int`;
};

/** One page, newest first. `cutoffs`: the `ageCutoffs` of today at the bank. */
export async function listBreakRows(
  db: Db,
  accountId: number,
  filters: BreakFilters,
  { after, limit }: Page,
  cutoffs: string[],
): Promise<BreakRow[]> {
  const { state = null, kind = null, nsu = null, expectedPaymentId = null } = filters;
  const { minAmount = null, openedFrom = null, openedTo = null, severity = null } = filters;
  return db.$queryRaw<BreakRow[]>`
    SELECT b.id, b.kind, b.state, b.subject, b.amount_cents, b.nsu, b.expected_payment_id,
           b.evidence, b.opened_at, b.opened_day, b.resolved_at, b.resolution
    FROM break b
    WHERE b.account_id = ${accountId}
      AND (${state}::text IS NULL OR b.state = ${state})
      AND (${kind}::text IS NULL OR b.kind = ${kind})
      AND (${nsu}::bigint IS NULL OR b.nsu = ${nsu}::bigint)
      AND (${expectedPaymentId}::uuid IS NULL OR b.expected_payment_id = ${expectedPaymentId}::uuid)
      AND (${minAmount}::bigint IS NULL OR b.amount_cents >= ${minAmount}::bigint)
      AND (${openedFrom}::text IS NULL OR ${openedDay} >= ${openedFrom})
      AND (${openedTo}::text IS NULL OR ${openedDay} <= ${openedTo})
      AND ${hasSeverity(severity, cutoffs)}
      AND (${after}::uuid IS NULL OR b.id < ${after}::uuid)
    ORDER BY b.id DESC LIMIT ${limit + 1}`;
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
