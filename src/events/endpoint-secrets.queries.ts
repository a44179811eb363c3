// The encrypted secrets of webhook endpoints, as the re-encryption sees them.
import type { WebhookEndpoint } from '../generated/service/client.js';
import type { SecretOwner } from '../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from '../secrets/encrypted-column.js';

export function ownerOfEndpointSecret({
  accountId,
  id,
}: Pick<WebhookEndpoint, 'accountId' | 'id'>): SecretOwner {
  return ['webhook_endpoint.secret', String(accountId), id];
}

export const endpointSecretColumn: EncryptedColumn = {
  name: 'webhook_endpoint.secret',
  listKeyIds: async (db) => {
    const rows = await db.$queryRaw<{ keyId: string }[]>`
      SELECT DISTINCT left(secret, 8) AS "keyId" FROM webhook_endpoint`;
    return rows.map(({ keyId }) => keyId);
  },
  count: (db, keyId) => db.webhookEndpoint.count({ where: { secret: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const where = { secret: encryptedWith(keyId) };
    const rows = await db.webhookEndpoint.findMany({ where, take });
    return rows.map(({ accountId, id, secret }) => ({
      owner: ownerOfEndpointSecret({ accountId, id }),
      encrypted: secret,
      replace: async (tx, encrypted) => {
        const same = { accountId, id, secret };
        await tx.webhookEndpoint.updateMany({ where: same, data: { secret: encrypted } });
      },
    }));
  },
};
