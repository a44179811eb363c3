import type { Tx } from '../database.service.js';

export async function isCertified(tx: Tx, accountId: number, nsu: bigint): Promise<boolean> {
  return (await tx.certifiedLine.count({ where: { accountId, nsu } })) === 1;
}

/** What the line's commitment binds to can never be shown again. */
export async function deleteSalt(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.lineSalt.deleteMany({ where: { accountId, nsu } });
}
