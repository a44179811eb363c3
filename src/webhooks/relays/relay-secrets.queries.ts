// The encrypted authorizations of relayed webhooks, as the re-encryption sees them.
import type { RelayRegistration } from '../../generated/service/client.js';
import type { SecretOwner } from '../../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from '../../access/secrets/encrypted-column.js';

export function ownerOfRelaySecret({
  accountId,
  id,
}: Pick<RelayRegistration, 'accountId' | 'id'>): SecretOwner {
  return ['relay_registration.authorization', String(accountId), id];
}

export const relaySecretColumn: EncryptedColumn = {
  name: 'relay_registration.authorization',
  count: (db, keyId) =>
    db.relayRegistration.count({ where: { authorization: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const where = { authorization: encryptedWith(keyId) };
    const rows = await db.relayRegistration.findMany({ where, take });
    return rows.map(({ accountId, id, authorization }) => ({
      owner: ownerOfRelaySecret({ accountId, id }),
      encrypted: authorization ?? '',
      replace: async (tx, encrypted) => {
        const data = { authorization: encrypted };
        await tx.relayRegistration.updateMany({ where: { accountId, id, authorization }, data });
      },
    }));
  },
};
