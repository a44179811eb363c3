import type { ServiceDatabase } from './service-database.js';

/** The nsus of all stored lines, ascending. */
export async function listStoredNsus({ database }: ServiceDatabase): Promise<number[]> {
  const rows = await database.prisma.statementLine.findMany({
    select: { nsu: true },
    orderBy: { nsu: 'asc' },
  });
  return rows.map(({ nsu }) => Number(nsu));
}
