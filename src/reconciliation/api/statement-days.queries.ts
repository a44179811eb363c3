// The days of statement lines in SQL.
import { Prisma } from '../../generated/service/client.js';

/** The statement day of a line, by the expression of its index. */
export const statementDay = Prisma.sql`(occurred_at AT TIME ZONE 'UTC' - interval '3 hours')::date`;

/**
 * A condition of the nsus between the least and the greatest of these days. It reads one entry of
 * the index for each day that the statement has, because a late line may be of an earlier day.
 */
export function spanOfDays(
  accountId: number,
  dayFrom: string | null,
  dayTo: string | null,
): Prisma.Sql {
  const dayAt = (end: Prisma.Sql) => Prisma.sql`(
    SELECT ${end}(${statementDay}) FROM statement_line WHERE account_id = ${accountId})`;
  const nsuAt = (end: Prisma.Sql, sort: Prisma.Sql) => Prisma.sql`(
    SELECT ${end}(of_day.nsu)
    FROM generate_series(
      GREATEST(${dayFrom}::date, ${dayAt(Prisma.sql`min`)}),
      LEAST(${dayTo}::date, ${dayAt(Prisma.sql`max`)}), interval '1 day') AS listed(day)
    CROSS JOIN LATERAL (
      SELECT nsu FROM statement_line
      WHERE account_id = ${accountId} AND ${statementDay} = listed.day::date
      ORDER BY nsu ${sort} LIMIT 1
    ) of_day)`;
  return Prisma.sql`nsu BETWEEN ${nsuAt(Prisma.sql`min`, Prisma.sql`ASC`)}
    AND ${nsuAt(Prisma.sql`max`, Prisma.sql`DESC`)}`;
}
