// Owns `service_secret`: random secrets of the service itself, such as the key of its hashes.
import type { SqlTx } from '../../platform/postgres/database.service.js';
import { invariant } from '../../platform/errors.js';
import type { SecretOwner } from '../../platform/secret-box.js';
import { encryptedWith, type EncryptedColumn } from './encrypted-column.js';

export function ownerOfServiceSecret(name: string): SecretOwner {
  return ['service_secret.value', name];
}

/** The stored text of the secret. The first process that starts stores its own. */
export async function findOrStoreServiceSecret(
  db: SqlTx,
  name: string,
  encrypted: string,
): Promise<string> {
  const find = async () => {
    const [stored] = await db.$queryRaw<{ value: string }[]>`
      SELECT value FROM service_secret WHERE name = ${name}`;
    return stored?.value;
  };
  const found = await find();
  if (found !== undefined) return found;
  await db.$executeRaw`
    INSERT INTO service_secret (name, value) VALUES (${name}, ${encrypted})
    ON CONFLICT (name) DO NOTHING`;
  const stored = await find();
  invariant(stored !== undefined, 'a secret of the service is never deleted');
  return stored;
}

export const serviceSecretColumn: EncryptedColumn = {
  name: 'service_secret.value',
  count: (db, keyId) => db.serviceSecret.count({ where: { value: encryptedWith(keyId) } }),
  list: async (db, keyId, take) => {
    const rows = await db.serviceSecret.findMany({ where: { value: encryptedWith(keyId) }, take });
    return rows.map(({ name, value: encrypted }) => ({
      owner: ownerOfServiceSecret(name),
      encrypted,
      replace: async (tx, value) => {
        await tx.serviceSecret.updateMany({ where: { name, value: encrypted }, data: { value } });
      },
    }));
  },
};
