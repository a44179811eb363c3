// What a rule of the account decided about a line is provisional until it is final: another line,
// a reference or a charge may still change it. Nothing that moves money or ends an operation
// counts on it.
import { opaqueAccountId } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';

/** A condition on a match or a classification (alias). */
export const isProvisional = (alias: string): Prisma.Sql => {
  const row = Prisma.raw(alias);
  return Prisma.sql`(${row}.rule = 'declared' AND ${row}.final_at IS NULL)`;
};

/** The lines with a provisional decision. `which`: a condition on their nsu. */
export const provisionalNsus = (accountId: number, which: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT nsu FROM match
  WHERE account_id = ${opaqueAccountId(accountId)} AND ${which} AND unlinked_at IS NULL
    AND ${isProvisional('match')}
  UNION
  SELECT nsu FROM classification
  WHERE account_id = ${opaqueAccountId(accountId)} AND ${which}
    AND ${isProvisional('classification')}`;
