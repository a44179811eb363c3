// The encrypted responses of idempotency records, as the re-encryption sees them. The table may be
// long: an index has the key ids of its responses.
import type { SecretOwner } from '../../platform/secret-box.js';
import type { EncryptedColumn } from '../secrets/encrypted-column.js';
import type { RecordKey } from './idempotency.queries.js';

export function ownerOfResponse({ accountId, route, key }: RecordKey): SecretOwner {
  return ['idempotency_record.body', String(accountId), route, key];
}

export const responseColumn: EncryptedColumn = {
  name: 'idempotency_record.body',
  count: async (db, keyId) => {
    const [row] = await db.$queryRaw<{ count: bigint }[]>`
      SELECT count(*) FROM idempotency_record WHERE body IS NOT NULL AND left(body, 8) = ${keyId}`;
    return Number(row?.count ?? 0);
  },
  list: async (db, keyId, limit) => {
    const rows = await db.$queryRaw<(RecordKey & { body: string })[]>`
      SELECT account_id, route, key, body FROM idempotency_record
      WHERE body IS NOT NULL AND left(body, 8) = ${keyId} LIMIT ${limit}`;
    return rows.map(({ accountId, route, key, body }) => ({
      owner: ownerOfResponse({ accountId, route, key }),
      encrypted: body,
      replace: async (tx, encrypted) => {
        const same = { accountId, route, key, body };
        await tx.idempotencyRecord.updateMany({ where: same, data: { body: encrypted } });
      },
    }));
  },
};
