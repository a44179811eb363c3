// The encrypted destinations of alert channels, as the re-encryption sees them.
import type { AlertChannel } from '../../generated/service/client.js';
import type { SecretOwner } from '../../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from '../../access/secrets/encrypted-column.js';

export function ownerOfDestination({
  accountId,
  id,
}: Pick<AlertChannel, 'accountId' | 'id'>): SecretOwner {
  return ['alert_channel.destination', String(accountId), id];
}

export const destinationColumn: EncryptedColumn = {
  name: 'alert_channel.destination',
  count: (db, keyId) => db.alertChannel.count({ where: { destination: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const where = { destination: encryptedWith(keyId) };
    const rows = await db.alertChannel.findMany({ where, take });
    return rows.map(({ accountId, id, destination: encrypted }) => ({
      owner: ownerOfDestination({ accountId, id }),
      encrypted,
      replace: async (tx, destination) => {
        const same = { accountId, id, destination: encrypted };
        await tx.alertChannel.updateMany({ where: same, data: { destination } });
      },
    }));
  },
};
