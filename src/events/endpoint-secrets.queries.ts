// The encrypted secrets of webhook endpoints, as the re-encryption sees them.
import type { WebhookEndpoint } from '../generated/service/client.js';
import type { SecretOwner } from '../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from '../access/secrets/encrypted-column.js';

/** A rotation moves a secret to the other column as it is: both columns have one owner. */
export function ownerOfEndpointSecret({
  accountId,
  id,
}: Pick<WebhookEndpoint, 'accountId' | 'id'>): SecretOwner {
  return ['webhook_endpoint.secret', String(accountId), id];
}

/**
 * Both columns as one: a secret that a rotation moves meanwhile is found in the column in which it
 * then is.
 */
export const endpointSecretColumn: EncryptedColumn = {
  name: 'webhook_endpoint.secret',
  formerName: 'webhook_endpoint.previous_secret',
  count: async (db, keyId) =>
    (await db.webhookEndpoint.count({ where: { secret: encryptedWith(keyId) } })) +
    (await db.webhookEndpoint.count({ where: { previousSecret: encryptedWith(keyId) } })),
  list: async (db, keyId, take) => {
    const current = { secret: encryptedWith(keyId) };
    const previous = { previousSecret: encryptedWith(keyId) };
    const rows = await db.webhookEndpoint.findMany({ where: { OR: [current, previous] }, take });
    return rows
      .flatMap(({ accountId, id, secret, previousSecret }) => [
        { accountId, id, column: 'secret' as const, encrypted: secret },
        { accountId, id, column: 'previousSecret' as const, encrypted: previousSecret ?? '' },
      ])
      .filter(({ encrypted }) => encrypted.startsWith(`${keyId}.`))
      .map(({ accountId, id, column, encrypted }) => ({
        owner: ownerOfEndpointSecret({ accountId, id }),
        encrypted,
        replace: async (tx, replacement) => {
          const same = { accountId, id, [column]: encrypted };
          await tx.webhookEndpoint.updateMany({ where: same, data: { [column]: replacement } });
        },
      }));
  },
};
