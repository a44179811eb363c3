// The e-mails and authenticator secrets of operators, as the re-encryption sees them.
import type { SecretOwner } from '../../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from '../secrets/encrypted-column.js';

export function ownerOfEmail(id: string): SecretOwner {
  return ['operator.email', id];
}

export function ownerOfTotpSecret(id: string): SecretOwner {
  return ['operator.totp_secret', id];
}

export const operatorEmailColumn: EncryptedColumn = {
  name: 'operator.email',
  count: (db, keyId) => db.operator.count({ where: { email: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const rows = await db.operator.findMany({ where: { email: encryptedWith(keyId) }, take });
    return rows.map(({ id, email }) => ({
      owner: ownerOfEmail(id),
      encrypted: email,
      replace: async (tx, replacement) => {
        await tx.operator.updateMany({ where: { id, email }, data: { email: replacement } });
      },
    }));
  },
};

export const totpSecretColumn: EncryptedColumn = {
  name: 'operator.totp_secret',
  count: (db, keyId) => db.operator.count({ where: { totpSecret: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const rows = await db.operator.findMany({ where: { totpSecret: encryptedWith(keyId) }, take });
    return rows.map(({ id, totpSecret }) => ({
      owner: ownerOfTotpSecret(id),
      encrypted: totpSecret ?? '',
      replace: async (tx, replacement) => {
        const data = { totpSecret: replacement };
        await tx.operator.updateMany({ where: { id, totpSecret }, data });
      },
    }));
  },
};
