// SQL of what happened or is due on a day in São Paulo, the newest first.
import type { Db } from '../../platform/postgres/database.service.js';

const mostOfDay = 100;

const bounds = (day: string) => {
  const from = new Date(`${day}T00:00:00-03:00`);
  return { gte: from, lt: new Date(from.getTime() + 86_400_000) };
};

export async function listLinesOfDay(db: Db, accountId: number, day: string): Promise<bigint[]> {
  const rows = await db.statementLine.findMany({
    where: { accountId, occurredAt: bounds(day) },
    orderBy: { occurredAt: 'desc' },
    take: mostOfDay,
    select: { nsu: true },
  });
  return rows.map(({ nsu }) => nsu);
}

/** Those that are due on the day, and those that were created on it. */
export async function listPaymentsOfDay(db: Db, accountId: number, day: string): Promise<string[]> {
  const [due, created] = await Promise.all([
    db.expectedPayment.findMany({
      where: { accountId, dueDate: day },
      take: mostOfDay,
      select: { id: true },
    }),
    db.expectedPayment.findMany({
      where: { accountId, createdAt: bounds(day) },
      orderBy: { createdAt: 'desc' },
      take: mostOfDay,
      select: { id: true },
    }),
  ]);
  return [...new Set([...due, ...created].map(({ id }) => id))];
}
