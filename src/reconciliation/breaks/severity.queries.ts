// The severity of open breaks in SQL, and the steps of each account.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma, type SeverityStepsChange } from '../../generated/service/client.js';
import { kindsWithSeverityFloor } from '../decide/break-kinds.js';
import {
  defaultSeveritySteps,
  floorOf,
  pointsWithoutAmount,
  severities,
  severityPoints,
  type SeverityScale,
  type SeveritySteps,
} from './severity.js';

// From which its age counts. A break that records no day uses the day of PostgreSQL's clock.
export const openedDay = Prisma.sql`COALESCE(b.opened_day,
  to_char(b.opened_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD'))`;

// GREATEST ignores the null of other kinds.
const floors = Prisma.join(
  (['critical', 'high'] as const).map(
    (severity) =>
      Prisma.sql`WHEN b.kind = ANY (${kindsWithSeverityFloor(severity)}::text[])
        THEN ${floorOf(severity)}::int`,
  ),
  ' ',
);

/** How many of these are true. */
const countOf = (conditions: Prisma.Sql[]) =>
  Prisma.join([Prisma.sql`0`, ...conditions.map((one) => Prisma.sql`(${one})::int`)], ' + ');

/** The points of `severityOf`, for an open break (b). */
export const pointsOfBreak = ({ amountSteps, cutoffs }: SeverityScale) => Prisma.sql`GREATEST(
  CASE WHEN b.amount_cents IS NULL THEN ${pointsWithoutAmount}::int
       ELSE ${countOf(amountSteps.map((step) => Prisma.sql`b.amount_cents >= ${step}::bigint`))} END
  + ${countOf(cutoffs.map((cutoff) => Prisma.sql`${openedDay} <= ${cutoff}::text`))},
  CASE ${floors} END)`;

/** The index in `severities` of `severityOf`, for an open break (b). */
export const severityOfBreak = (scale: SeverityScale) => Prisma.sql`(
  SELECT ${countOf(severityPoints.map((least) => Prisma.sql`points >= ${least}::int`))}
  FROM (SELECT ${pointsOfBreak(scale)} AS points OFFSET 0) of_break)`;

/** The name of a severity by its index. */
export const severityName = (index: Prisma.Sql) =>
  Prisma.sql`(${[...severities]}::text[])[${index} + 1]`;

/** The account's steps; the default ones if it has set none. */
export async function readSeveritySteps(db: Db, accountId: number): Promise<SeveritySteps> {
  const [last] = await listStepsChanges(db, accountId, 1);
  return last ?? defaultSeveritySteps;
}

/** The last changes of the account's steps, newest first. */
export function listStepsChanges(
  db: Db,
  accountId: number,
  limit: number,
): Promise<SeverityStepsChange[]> {
  return db.severityStepsChange.findMany({
    where: { accountId },
    orderBy: { sequence: 'desc' },
    take: limit,
  });
}
