// Opens the stored secrets with the keys of the settings when a process starts, and encrypts them
// again with the current key. docs/how-to/deploying.md describes how an operator replaces the key.
import { randomBytes } from 'node:crypto';
import { type Settings } from '../../platform/settings/config.js';
import { SettingsError } from '../../platform/settings/environment.js';
import type { Database, Reader } from '../../platform/postgres/database.service.js';
import { KeyRing, SecretBox } from '../../platform/secret-box.js';
import type { EncryptedColumn, EncryptedValue } from './encrypted-column.js';
import { listKeyIds } from './encrypted-column.queries.js';
import { findOrStoreServiceSecret, ownerOfServiceSecret } from './service-secrets.queries.js';

type KeySettings = Pick<Settings, 'credentialsKey' | 'otherCredentialsKeys'>;

const hashingKeyName = 'hashing-key';
const hashingKeyBytes = 32;

/** Throws SettingsError when a stored secret has a key that the settings do not have. */
export async function openSecretBox(
  { sql }: Database,
  settings: KeySettings,
  columns: readonly EncryptedColumn[],
): Promise<SecretBox> {
  const keyRing = new KeyRing(settings);
  await assertKeysKnown(sql, keyRing, columns);
  const owner = ownerOfServiceSecret(hashingKeyName);
  const own = keyRing.encrypt(randomBytes(hashingKeyBytes).toString('base64'), owner);
  const stored = await findOrStoreServiceSecret(sql, hashingKeyName, own);
  return new SecretBox(keyRing, Buffer.from(keyRing.decrypt(stored, owner), 'base64'));
}

/** Which keys encrypt stored secrets, and a sentence for each that the settings do not have. */
export async function examineKeys(
  { sql }: Pick<Database, 'sql'>,
  settings: KeySettings,
  columns: readonly EncryptedColumn[],
): Promise<{ currentId: string; inUse: string[]; problems: string[] }> {
  const keyRing = new KeyRing(settings);
  return { currentId: keyRing.currentId, ...(await compareKeys(sql, keyRing, columns)) };
}

async function compareKeys(
  db: Reader,
  { ids }: KeyRing,
  columns: readonly EncryptedColumn[],
): Promise<{ inUse: string[]; problems: string[] }> {
  const [inUse, problems] = [new Set<string>(), [] as string[]];
  for (const column of columns)
    for (const keyId of await listKeyIds(db, column)) {
      inUse.add(keyId);
      if (!ids.includes(keyId))
        problems.push(
          `CREDENTIALS_OTHER_KEYS lacks the key ${keyId}, which encrypted values of ${column.name}. ` +
            `The settings have ${ids.length === 1 ? 'the key' : 'the keys'} ${ids.join(', ')}.`,
        );
    }
  return { inUse: [...inUse], problems };
}

async function assertKeysKnown(
  db: Reader,
  keyRing: KeyRing,
  columns: readonly EncryptedColumn[],
): Promise<void> {
  const { problems } = await compareKeys(db, keyRing, columns);
  if (problems.length > 0) throw new SettingsError(problems);
}

/** Values of one transaction: their rows are locked for some milliseconds. */
const batchSize = 100;

export interface ReencryptionProgress {
  column: string;
  keyId: string;
  done: number;
  total: number;
}

export interface ReencryptionResult {
  currentId: string;
  /** The other keys of the settings, and how many values each still encrypts. */
  others: { keyId: string; values: number }[];
  /** Values that were changed outside the service, or copied from another row. */
  unreadable: { column: string; owner: string }[];
}

/**
 * Encrypts every value again that has another key than the current one, in small batches. It may
 * run beside the service, stop at any moment and run again. Throws SettingsError for a key that the
 * settings do not have.
 */
export async function reencrypt(
  database: Database,
  settings: KeySettings,
  columns: readonly EncryptedColumn[],
  onProgress: (progress: ReencryptionProgress) => void = () => undefined,
  isStopped: () => boolean = () => false,
): Promise<ReencryptionResult> {
  const { prisma, sql } = database;
  const keyRing = new KeyRing(settings);
  await assertKeysKnown(sql, keyRing, columns);
  const { currentId, ids } = keyRing;
  const otherIds = ids.filter((id) => id !== currentId);
  const unreadable: ReencryptionResult['unreadable'] = [];
  for (const column of columns)
    for (const keyId of otherIds) {
      const report = (done: number, total: number) =>
        onProgress({ column: column.name, keyId, done, total });
      const failed = await reencryptColumn(database, keyRing, { column, keyId }, report, isStopped);
      unreadable.push(
        ...failed.map(({ owner }) => ({ column: column.name, owner: owner.join(' ') })),
      );
    }
  const others: ReencryptionResult['others'] = [];
  for (const keyId of otherIds) {
    const counts = await Promise.all(columns.map((column) => column.count(prisma, keyId)));
    others.push({ keyId, values: counts.reduce((sum, count) => sum + count, 0) });
  }
  return { currentId, others, unreadable };
}

/** Returns the values that could not be decrypted. */
async function reencryptColumn(
  database: Database,
  keyRing: KeyRing,
  { column, keyId }: { column: EncryptedColumn; keyId: string },
  report: (done: number, total: number) => void,
  isStopped: () => boolean,
): Promise<EncryptedValue[]> {
  const { prisma } = database;
  const total = await column.count(prisma, keyId);
  const failed = new Map<string, EncryptedValue>();
  let [done, isLast] = [0, total === 0];
  while (!isLast && !isStopped()) {
    const listed = await column.list(prisma, keyId, batchSize + failed.size);
    // A process that still has this key as its current one may add values without end.
    isLast = listed.length < batchSize + failed.size;
    const changes: [EncryptedValue, string][] = [];
    for (const value of listed.filter(({ encrypted }) => !failed.has(encrypted)))
      try {
        const secret = keyRing.decrypt(value.encrypted, value.owner);
        changes.push([value, keyRing.encrypt(secret, value.owner)]);
      } catch {
        // The error of the cipher says nothing more. The value is reported by its row.
        failed.set(value.encrypted, value);
      }
    await database.transaction(async (tx) => {
      for (const [value, encrypted] of changes) await value.replace(tx, encrypted);
    });
    done += changes.length;
    report(done, Math.max(total, done));
  }
  return [...failed.values()];
}
