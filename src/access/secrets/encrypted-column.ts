// What the re-encryption needs of a column that holds encrypted secrets. The module that writes the
// table declares it, beside its other queries.
import type { Db } from '../../platform/postgres/database.service.js';
import type { SecretOwner } from '../../platform/secret-box.js';

export interface EncryptedValue {
  owner: SecretOwner;
  encrypted: string;
  /** Stores the other text if the value is still the same. */
  replace(db: Db, encrypted: string): Promise<void>;
}

export interface EncryptedColumn {
  /** `table.column`. */
  name: string;
  /** Another column of the table, to which values of this one are moved. */
  formerName?: string;
  /** How many values the key encrypted. */
  count(db: Db, keyId: string): Promise<number>;
  /** Values that the key encrypted. */
  list(db: Db, keyId: string, limit: number): Promise<EncryptedValue[]>;
}

/** The filter of texts that a key encrypted. */
export const encryptedWith = (keyId: string) => ({ startsWith: `${keyId}.` });
