// Reads the cut at which the first certificate of an account starts.
import type { Db } from '../../platform/postgres/database.service.js';
import { findGap, readInitialBalance } from '../../statement/lines/balance-chain.queries.js';
import type { Cut } from './cut.js';
import { listStraddlingLines, readFollowing } from './day-lines.queries.js';

/**
 * The cut at an instant before the first certificate. It counts as many lines by nsu as there are
 * lines before the instant by time; none if there are none. If the balance chain is broken there,
 * the balance is the current balance of the last counted line.
 */
export async function readOpeningCut(
  db: Db,
  accountId: number,
  instant: Date,
  lastArrival: bigint,
): Promise<Cut> {
  const initialBalance = (await readInitialBalance(db, accountId)) ?? 0n;
  const initialCut = {
    nsu: null,
    balanceCents: initialBalance,
    straddlingLines: [],
    acceptedDifferences: [],
  };
  const count = await db.statementLine.count({
    where: { accountId, occurredAt: { lt: instant }, arrival: { lte: lastArrival } },
  });
  const counted = await readFollowing(db, accountId, { afterNsu: null, count, lastArrival });
  if (counted.firstNsu === null || counted.lastNsu === null) return initialCut;
  const cutNsu = counted.lastNsu;
  const { gap, jumps } = await findGap(db, accountId, counted.firstNsu, cutNsu);
  const jumpCents = jumps
    .filter(({ nsu }) => nsu <= cutNsu)
    .reduce((sum, { cents }) => sum + cents, 0n);
  const balanceCents = gap
    ? await readCurrentBalance(db, accountId, cutNsu)
    : initialBalance + jumpCents + counted.cents;
  const straddlingLines = await listStraddlingLines(db, accountId, {
    ...{ afterNsu: null, cutNsu, start: null, end: instant, lastArrival },
  });
  const byNsu = [...straddlingLines].sort((a, b) => (a.nsu < b.nsu ? -1 : 1));
  return { nsu: cutNsu, balanceCents, straddlingLines: byNsu, acceptedDifferences: [] };
}

export async function readCurrentBalance(db: Db, accountId: number, nsu: bigint): Promise<bigint> {
  const line = await db.statementLine.findUniqueOrThrow({
    where: { accountId_nsu: { accountId, nsu } },
    select: { currentBalanceCents: true },
  });
  return line.currentBalanceCents;
}
