import type { PixKey } from '../../brazil/pix-key.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';
import type { Party } from '../accounts/party.js';

/** The owner of a Pix key: an account of this bank, or a customer of another institution. */
export type DictKeyOwner = { accountId: number; party: null } | { accountId: null; party: Party };

export async function findDictKeyOwner(
  database: Queryable,
  key: string,
): Promise<DictKeyOwner | null> {
  const [row] = await database.query<DictKeyOwner>(
    'SELECT account_id AS "accountId", party FROM dict_key WHERE key = $1',
    [key],
  );
  return row ?? null;
}

/** Returns false when the key is already registered. */
export async function insertDictKey(
  database: Queryable,
  { key, kind }: PixKey,
  { accountId, party }: DictKeyOwner,
): Promise<boolean> {
  const rows = await database.query(
    `INSERT INTO dict_key (key, kind, account_id, party) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING RETURNING key`,
    [key, kind, accountId, party],
  );
  return rows.length > 0;
}

/** The stored response of a look-up. */
export interface DictLookup {
  endToEndId: string;
  accountId: number;
  key: string;
  /** With the holder's document unmasked. */
  beneficiary: Party;
  createdAt: Date;
  expiresAt: Date;
}

export async function insertDictLookup(database: Queryable, lookup: DictLookup): Promise<void> {
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

/**
 * The account's look-up with that id, locked until the database transaction ends, so that of
 * several concurrent transfers with it only one is accepted.
 */
export async function lockDictLookup(
  tx: SandboxTx,
  accountId: number,
  endToEndId: string,
): Promise<Pick<DictLookup, 'beneficiary' | 'expiresAt'> | null> {
  const [row] = await tx.query<Pick<DictLookup, 'beneficiary' | 'expiresAt'>>(
    `SELECT beneficiary, expires_at AS "expiresAt" FROM dict_lookup
     WHERE end_to_end_id = $1 AND account_id = $2 FOR UPDATE`,
    [endToEndId, accountId],
  );
  return row ?? null;
}
