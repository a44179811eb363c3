// SQL that reads breaks.
import type { Db } from '../../database.service.js';
import { Prisma, type Break } from '../../generated/service/client.js';
import type { StoredBreak } from '../breaks.queries.js';
import { urgentKinds } from '../decide/break-kinds.js';
import {
  amountSteps,
  pointsWithoutAmount,
  urgentPoints,
  severities,
  severitySteps,
  type Severity,
} from './severity.js';

export type BreakRow = StoredBreak &
  Pick<Break, 'amountCents' | 'openedAt' | 'resolvedAt' | 'resolution'> & {
    evidence: unknown;
    /** The day at the bank. */
    openedDay: string;
  };

// A break without a recorded day at the bank uses the day of PostgreSQL's clock.
const openedDay = Prisma.sql`COALESCE(b.opened_day,
  to_char(b.opened_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD'))`;

const columns = Prisma.sql`
  b.id, b.kind, b.state, b.subject, b.amount_cents, b.nsu,
  b.expected_payment_id, b.evidence, b.opened_at,
  ${openedDay} AS "openedDay", b.resolved_at, b.resolution`;

export interface BreakFilters {
  state: string | null;
  kind: string | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  minCents: bigint | null;
  openedFrom: string | null;
  openedTo: string | null;
  severity: Severity | null;
  /** `ageCutoffs` of today at the bank. */
  cutoffs: string[];
  beforeId: string | null;
  limit: number;
}

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

export async function listBreakRows(
  db: Db,
  accountId: number,
  filters: BreakFilters,
): Promise<BreakRow[]> {
  const { state, kind, nsu, expectedPaymentId, minCents, openedFrom, openedTo } = filters;
  const { severity, cutoffs, beforeId, limit } = filters;
  return db.$queryRaw<BreakRow[]>`
    SELECT ${columns} FROM break b
    WHERE b.account_id = ${accountId}
      AND (${state}::text IS NULL OR b.state = ${state})
      AND (${kind}::text IS NULL OR b.kind = ${kind})
      AND (${nsu}::bigint IS NULL OR b.nsu = ${nsu}::bigint)
      AND (${expectedPaymentId}::uuid IS NULL OR b.expected_payment_id = ${expectedPaymentId}::uuid)
      AND (${minCents}::bigint IS NULL OR b.amount_cents >= ${minCents}::bigint)
      AND (${openedFrom}::text IS NULL OR ${openedDay} >= ${openedFrom})
      AND (${openedTo}::text IS NULL OR ${openedDay} <= ${openedTo})
      AND ${hasSeverity(severity, cutoffs)}
      AND (${beforeId}::uuid IS NULL OR b.id < ${beforeId}::uuid)
    ORDER BY b.id DESC LIMIT ${limit}`;
}

export async function findBreakRow(
  db: Db,
  accountId: number,
  id: string,
): Promise<BreakRow | null> {
  const [found] = await db.$queryRaw<BreakRow[]>`
    SELECT ${columns} FROM break b WHERE b.account_id = ${accountId} AND b.id = ${id}::uuid`;
  return found ?? null;
}

/** The oldest breaks of a kind, for a bulk action; leaves out automatically resolved breaks. */
export async function listBreakIds(
  db: Db,
  accountId: number,
  {
    state,
    kind,
    openedBefore,
    maxCents,
    limit,
  }: {
    state: 'open' | 'resolved';
    kind: string;
    openedBefore: string | null;
    maxCents: bigint | null;
    limit: number;
  },
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT b.id FROM break b
    WHERE b.account_id = ${accountId} AND b.kind = ${kind} AND b.state = ${state}
      AND (b.state = 'open' OR b.resolution <> 'automatic')
      AND (${openedBefore}::text IS NULL OR ${openedDay} < ${openedBefore})
      AND (${maxCents}::bigint IS NULL OR b.amount_cents <= ${maxCents}::bigint)
    ORDER BY b.opened_at, b.id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
