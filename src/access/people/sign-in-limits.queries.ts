// The addresses that a person has signed in from.
import type { SqlTx } from '../../platform/postgres/database.service.js';

export async function isKnownAddress(db: SqlTx, subject: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operator_address WHERE subject = ${subject}`;
  return found.length > 0;
}

/** Stores an address of the person. Of more than `max`, those used longest ago are forgotten. */
export async function rememberAddress(
  tx: SqlTx,
  { subject, operatorId, max }: { subject: string; operatorId: string; max: number },
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO operator_address (subject, operator_id) VALUES (${subject}, ${operatorId}::uuid)
    ON CONFLICT (subject) DO UPDATE SET used_at = EXCLUDED.used_at`;
  await tx.$executeRaw`
    DELETE FROM operator_address WHERE operator_id = ${operatorId}::uuid AND subject IN (
      SELECT subject FROM operator_address WHERE operator_id = ${operatorId}::uuid
      ORDER BY used_at DESC OFFSET ${max})`;
}
