import type { PixKey } from '../../brazil/pix-key.js';
import type { Queryable, Tx } from '../sandbox-database.service.js';
import type { Party } from '../accounts/party.js';

/** Whom a key leads to: an account of this bank, or somebody at another institution. */
export type KeyOwner = { accountId: number; party: null } | { accountId: null; party: Party };

export async function findKeyOwner(database: Queryable, key: string): Promise<KeyOwner | null> {
  const [row] = await database.query<KeyOwner>(
    'SELECT account_id AS "accountId", party FROM dict_key WHERE key = $1',
    [key],
  );
  return row ?? null;
}

/** False when the key is somebody's already. */
export async function insertKey(
  database: Queryable,
  { key, kind }: PixKey,
  { accountId, party }: KeyOwner,
): Promise<boolean> {
  const rows = await database.query(
    `INSERT INTO dict_key (key, kind, account_id, party) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING key`,
    [key, kind, accountId, party],
  );
  return rows.length > 0;
}

/** What a look-up answered. */
export interface Lookup {
  endToEndId: string;
  accountId: number;
  key: string;
  /** Its document unmasked. */
  beneficiary: Party;
  createdAt: Date;
  expiresAt: Date;
}

export async function insertLookup(database: Queryable, lookup: Lookup): Promise<void> {
  await database.query(
    `INSERT INTO dict_lookup (end_to_end_id, account_id, key, beneficiary, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      lookup.endToEndId,
      lookup.accountId,
      lookup.key,
      lookup.beneficiary,
      lookup.createdAt,
      lookup.expiresAt,
    ],
  );
}

/** The account's look-up of that id, locked until the transaction ends: of many that begin with it one goes on. */
export async function lockLookup(
  tx: Tx,
  accountId: number,
  endToEndId: string,
): Promise<Pick<Lookup, 'beneficiary' | 'expiresAt'> | null> {
  const [row] = await tx.query<Pick<Lookup, 'beneficiary' | 'expiresAt'>>(
    `SELECT beneficiary, expires_at AS "expiresAt" FROM dict_lookup
     WHERE end_to_end_id = $1 AND account_id = $2 FOR UPDATE`,
    [endToEndId, accountId],
  );
  return row ?? null;
}
