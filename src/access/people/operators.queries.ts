// People, their roles, links and addresses, by PostgreSQL's clock.
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';
import type {
  BankAccount,
  Operator,
  OperatorRole,
  RoleName,
} from '../../generated/service/client.js';

/** Accepts the code of that step. False where that step, or a later one, was accepted before. */
export async function acceptStep(db: SqlTx, id: string, step: bigint): Promise<boolean> {
  const changed = await db.$executeRaw`
    UPDATE operator SET totp_last_step = ${step},
      totp_confirmed_at = COALESCE(totp_confirmed_at, clock_timestamp())
    WHERE id = ${id}::uuid AND COALESCE(totp_last_step, -1) < ${step}`;
  return changed === 1;
}

/** Uses a recovery code up. False where it is none of the person. */
export async function useRecoveryHash(db: SqlTx, id: string, hash: string): Promise<boolean> {
  const changed = await db.$executeRaw`
    UPDATE operator SET recovery_hashes = array_remove(recovery_hashes, ${hash})
    WHERE id = ${id}::uuid AND ${hash} = ANY(recovery_hashes)`;
  return changed === 1;
}

export async function hasOperators(db: SqlTx): Promise<boolean> {
  const [row] = await db.$queryRaw<{ exists: boolean }[]>`
    SELECT EXISTS (SELECT FROM operator) AS exists`;
  return row?.exists ?? false;
}

export async function insertLink(
  db: SqlTx,
  tokenHash: string,
  operatorId: string | null,
  minutes: number,
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO operator_link (token_hash, operator_id, expires_at)
    VALUES (${tokenHash}, ${operatorId}::uuid,
            clock_timestamp() + ${minutes}::float8 * interval '1 minute')`;
}

/** The links of a person that were not used work no more; with null, the first links. */
export async function endLinks(db: SqlTx, operatorId: string | null): Promise<void> {
  await db.$executeRaw`
    UPDATE operator_link SET used_at = clock_timestamp()
    WHERE operator_id IS NOT DISTINCT FROM ${operatorId}::uuid AND used_at IS NULL`;
}

export interface OpenLink {
  operatorId: string | null;
  /** Encrypted; null for the first link. */
  email: string | null;
}

/** The link, if it can still be used. */
export async function findOpenLink(db: SqlTx, tokenHash: string): Promise<OpenLink | null> {
  const [link] = await db.$queryRaw<OpenLink[]>`
    SELECT l.operator_id, o.email FROM operator_link l
    LEFT JOIN operator o ON o.id = l.operator_id
    WHERE l.token_hash = ${tokenHash} AND l.used_at IS NULL AND l.expires_at > clock_timestamp()
      AND o.disabled_at IS NULL
      AND (l.operator_id IS NOT NULL OR NOT EXISTS (SELECT FROM operator))`;
  return link ?? null;
}

/** Uses the link up. False for one that was used meanwhile, or is too old. */
export async function useLink(db: SqlTx, tokenHash: string): Promise<boolean> {
  const changed = await db.$executeRaw`
    UPDATE operator_link SET used_at = clock_timestamp()
    WHERE token_hash = ${tokenHash} AND used_at IS NULL AND expires_at > clock_timestamp()`;
  return changed === 1;
}

export async function putRole(
  db: Db,
  { accountId, operatorId, role }: OperatorRole,
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO operator_role (account_id, operator_id, role)
    VALUES (${accountId}, ${operatorId}::uuid, ${role}::role_name)
    ON CONFLICT (account_id, operator_id) DO UPDATE SET role = EXCLUDED.role`;
}

export type VisibleAccount = Pick<BankAccount, 'id' | 'slug' | 'name'> & { role: RoleName };

/** The accounts in which the person has a role, the first one first. */
export async function listVisibleAccounts(
  db: SqlTx,
  operatorId: string,
): Promise<VisibleAccount[]> {
  return db.$queryRaw<VisibleAccount[]>`
    SELECT a.id, a.slug, a.name, GREATEST(r.role, o.role_everywhere) AS role
    FROM operator o CROSS JOIN bank_account a
    LEFT JOIN operator_role r ON r.account_id = a.id AND r.operator_id = o.id
    WHERE o.id = ${operatorId}::uuid AND (r.role IS NOT NULL OR o.role_everywhere IS NOT NULL)
    ORDER BY a.id`;
}

/** The action of the audit trail by which a local person becomes one of the provider. */
export const linkToSso = 'link person to sso';

/** Locks people against changes of their roles, until the transaction ends. */
export async function lockPeople(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.$queryRaw`
    SELECT 1 FROM operator WHERE id = ANY (${[...ids]}::uuid[]) ORDER BY id FOR SHARE`;
}

/**
 * The roles of people in an account. A person who is disabled has none; nor, with `before`, one who
 * could not sign in by then: whoever invites or resets a person could be that person.
 */
export async function listRolesIn(
  db: Db,
  accountId: number,
  ids: readonly string[],
  before: Date | null = null,
): Promise<{ id: string; role: RoleName | null }[]> {
  return db.$queryRaw<{ id: string; role: RoleName | null }[]>`
    SELECT o.id, GREATEST(r.role, o.role_everywhere) AS role
    FROM operator o
    LEFT JOIN operator_role r ON r.account_id = ${accountId} AND r.operator_id = o.id
    WHERE o.id = ANY (${[...ids]}::uuid[]) AND o.disabled_at IS NULL
      AND (${before}::timestamptz IS NULL OR o.totp_confirmed_at < ${before}
        OR o.sso_hash IS NOT NULL AND o.created_at < ${before} AND NOT EXISTS (
          SELECT FROM audit_entry e
          WHERE e.account_id IS NULL AND e.operator_id = o.id
            AND e.action = ${linkToSso} AND e.at >= ${before}))`;
}

/** Locks the person against other changes. */
export async function lockPerson(
  tx: SqlTx,
  id: string,
): Promise<Pick<Operator, 'roleEverywhere'> | null> {
  const [person] = await tx.$queryRaw<Pick<Operator, 'roleEverywhere'>[]>`
    SELECT role_everywhere FROM operator WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
  return person ?? null;
}

/** Two first links that are used at once create one person. */
export async function lockOperators(tx: SqlTx): Promise<void> {
  await tx.$executeRaw`LOCK TABLE operator IN SHARE ROW EXCLUSIVE MODE`;
}

/** Stores an address of the person. Of more than `max`, those used longest ago are forgotten. */
export async function rememberAddress(
  tx: SqlTx,
  { subject, operatorId, max }: { subject: string; operatorId: string; max: number },
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO operator_address (subject, operator_id) VALUES (${subject}, ${operatorId}::uuid)
    ON CONFLICT (subject) DO UPDATE SET used_at = EXCLUDED.used_at`;
  await tx.$executeRaw`
    DELETE FROM operator_address WHERE operator_id = ${operatorId}::uuid AND subject IN (
      SELECT subject FROM operator_address WHERE operator_id = ${operatorId}::uuid
      ORDER BY used_at DESC OFFSET ${max})`;
}
