import type { SandboxTx } from '../sandbox-database.service.js';

export interface RequestIdentity {
  accountId: number;
  operation: string;
  key: string;
}

/**
 * False when the key was used before. Waits for a concurrent transaction that inserts the same key.
 */
export async function insertIdempotencyKey(
  tx: SandboxTx,
  { accountId, operation, key }: RequestIdentity,
  { bodyHash, at }: { bodyHash: string; at: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO idempotent_request (account_id, operation, key, body_hash, created_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING key`,
    [accountId, operation, key, bodyHash, at],
  );
  return rows.length > 0;
}

export async function storeIdempotentResponse(
  tx: SandboxTx,
  { accountId, operation, key }: RequestIdentity,
  response: string,
): Promise<void> {
  await tx.query(
    `UPDATE idempotent_request SET status = 200, answer = $4
     WHERE account_id = $1 AND operation = $2 AND key = $3`,
    [accountId, operation, key, response],
  );
}

export async function findIdempotentResponse(
  tx: SandboxTx,
  { accountId, operation, key }: RequestIdentity,
): Promise<{ bodyHash: string; response: string | null } | null> {
  const [row] = await tx.query<{ body_hash: string; answer: string | null }>(
    `SELECT body_hash, answer FROM idempotent_request
     WHERE account_id = $1 AND operation = $2 AND key = $3`,
    [accountId, operation, key],
  );
  return row ? { bodyHash: row.body_hash, response: row.answer } : null;
}
