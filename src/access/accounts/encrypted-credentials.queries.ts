// The encrypted credentials of bank accounts, as the re-encryption sees them.
import type { SecretOwner } from '../../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from '../secrets/encrypted-column.js';

/** The slug never changes, and is known before the account has an id. */
export function ownerOfCredentials(slug: string): SecretOwner {
  return ['bank_account.credentials', slug];
}

export const credentialsColumn: EncryptedColumn = {
  name: 'bank_account.credentials',
  count: (db, keyId) => db.bankAccount.count({ where: { credentials: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const where = { credentials: encryptedWith(keyId) };
    const rows = await db.bankAccount.findMany({ where, take });
    return rows.map(({ id, slug, credentials }) => ({
      owner: ownerOfCredentials(slug),
      encrypted: credentials ?? '',
      // `updatedAt` stays: the credentials are the same.
      replace: async (tx, encrypted) => {
        const data = { credentials: encrypted };
        await tx.bankAccount.updateMany({ where: { id, credentials }, data });
      },
    }));
  },
};
