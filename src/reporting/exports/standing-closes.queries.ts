// Which months are closed now.
import type { Db } from '../../platform/postgres/database.service.js';

/** The closes of the account that no reopening has ended. */
export async function listStandingCloses(db: Db, accountId: number) {
  const where = { accountId, NOT: { action: 'accept' } } as const;
  const decisions = await db.monthDecision.findMany({ where, orderBy: { sequence: 'asc' } });
  const last = new Map(decisions.map(({ month, sequence }) => [month, sequence]));
  const closes = await db.monthClose.findMany({ where: { accountId }, omit: { report: true } });
  return closes.filter(({ month, approval }) => last.get(month) === approval);
}
