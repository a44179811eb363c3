// The sessions of the console, by PostgreSQL's clock: a session ends after 30 minutes without use,
// and 12 hours after its sign-in.
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';
import { Prisma, type OperatorSession, type RoleName } from '../../generated/service/client.js';

/** What a session that has not ended fulfils. */
const isOpen = Prisma.sql`
  s.ended_at IS NULL AND s.last_used_at > clock_timestamp() - interval '30 minutes'
  AND s.created_at > clock_timestamp() - interval '12 hours'
  AND (s.ends_at IS NULL OR s.ends_at > clock_timestamp())`;

/** A session between password and code: it is of no use to anybody for long. */
const isInTime = Prisma.sql`
  (s.is_complete OR s.created_at > clock_timestamp() - interval '10 minutes')`;

const isUseDue = Prisma.sql`s.last_used_at < clock_timestamp() - interval '1 minute'`;

export interface FoundSession {
  id: string;
  operatorId: string;
  isComplete: boolean;
  /** Whether an authenticator is set up. */
  hasAuthenticator: boolean;
  isSso: boolean;
  isBreakGlass: boolean;
  /** Whether a code was accepted within the last five minutes. */
  isSteppedUp: boolean;
  /** Whether its last stored use is more than a minute ago. */
  isUseDue: boolean;
  email: string;
  roleEverywhere: RoleName | null;
  /** Of the account that the request names, if the person has a role there. */
  accountId: number | null;
  accountName: string | null;
  accountRole: RoleName | null;
}

/** The session of a token, with the person's role in the account of that slug. */
export async function findSession(
  db: SqlTx,
  tokenHash: string,
  slug: string,
): Promise<FoundSession | null> {
  const [session] = await db.$queryRaw<FoundSession[]>`
    SELECT s.id, s.operator_id, s.is_complete, s.is_break_glass, o.email, o.role_everywhere,
           o.sso_hash IS NOT NULL AS "isSso",
           o.totp_confirmed_at IS NOT NULL AS "hasAuthenticator",
           COALESCE(s.code_at > clock_timestamp() - interval '5 minutes', false) AS "isSteppedUp",
           ${isUseDue} AS "isUseDue",
           a.id AS "accountId", COALESCE(a.name, a.slug) AS "accountName", r.role AS "accountRole"
    FROM operator_session s
    JOIN operator o ON o.id = s.operator_id AND o.disabled_at IS NULL
    LEFT JOIN bank_account a ON a.slug = ${slug}
    LEFT JOIN operator_role r ON r.account_id = a.id AND r.operator_id = o.id
    WHERE s.token_hash = ${tokenHash} AND ${isOpen} AND ${isInTime}`;
  return session ?? null;
}

export type FoundRole = Pick<OperatorSession, 'tokenHash'> &
  Pick<FoundSession, 'roleEverywhere' | 'accountRole'>;

/** Of these tokens, those of open sessions, with the persons' roles in the account. */
export async function listRolesOfSessions(
  db: SqlTx,
  tokenHashes: readonly string[],
  accountId: number,
): Promise<FoundRole[]> {
  return db.$queryRaw<FoundRole[]>`
    SELECT s.token_hash, o.role_everywhere, r.role AS "accountRole"
    FROM unnest(${[...tokenHashes]}::text[]) wanted
    JOIN operator_session s ON s.token_hash = wanted
    JOIN operator o ON o.id = s.operator_id AND o.disabled_at IS NULL
    LEFT JOIN operator_role r ON r.account_id = ${accountId} AND r.operator_id = o.id
    WHERE s.is_complete AND ${isOpen}`;
}

/** At most once a minute. */
export async function touchSession(db: SqlTx, id: string): Promise<void> {
  await db.$executeRaw`
    UPDATE operator_session s SET last_used_at = clock_timestamp()
    WHERE id = ${id}::uuid AND ${isUseDue}`;
}

/**
 * Completes the session and gives it another token. `isStepUp`: by a code of the authenticator, and
 * not by a recovery code. False where the token is not that of the session any more.
 */
export async function rotateSession(
  db: SqlTx,
  { id, from, to, isStepUp }: { id: string; from: string; to: string; isStepUp: boolean },
): Promise<boolean> {
  const changed = await db.$executeRaw`
    UPDATE operator_session SET token_hash = ${to}, is_complete = true, wrong_codes = 0,
      code_at = CASE WHEN ${isStepUp} THEN clock_timestamp() ELSE code_at END,
      last_used_at = clock_timestamp()
    WHERE id = ${id}::uuid AND token_hash = ${from} AND ended_at IS NULL`;
  return changed === 1;
}

/** Ends a session that has given all the wrong codes and passwords that it may. */
export async function endIfExhausted(db: SqlTx, id: string, max: number): Promise<void> {
  await db.$executeRaw`
    UPDATE operator_session SET ended_at = clock_timestamp()
    WHERE id = ${id}::uuid AND ended_at IS NULL AND wrong_codes >= ${max}`;
}

export type ListedSession = Pick<
  OperatorSession,
  'id' | 'operatorId' | 'userAgent' | 'createdAt' | 'lastUsedAt'
>;

/** The open sessions of a person, the latest first. */
export async function listOpenSessions(db: SqlTx, operatorId: string): Promise<ListedSession[]> {
  return db.$queryRaw<ListedSession[]>`
    SELECT s.id, s.operator_id, s.user_agent, s.created_at, s.last_used_at
    FROM operator_session s
    WHERE s.operator_id = ${operatorId}::uuid AND s.is_complete AND ${isOpen}
    ORDER BY s.id DESC LIMIT 100`;
}

/** Ends a session of that person. False where there is none. */
export async function endSession(db: SqlTx, operatorId: string, id: string): Promise<boolean> {
  const ended = await db.$executeRaw`
    UPDATE operator_session SET ended_at = clock_timestamp()
    WHERE id = ${id}::uuid AND operator_id = ${operatorId}::uuid AND ended_at IS NULL`;
  return ended === 1;
}

/** Ends all sessions of a person but one; `''` ends all. */
export async function endSessions(db: Db, operatorId: string, except: string): Promise<void> {
  await db.$executeRaw`
    UPDATE operator_session SET ended_at = clock_timestamp()
    WHERE operator_id = ${operatorId}::uuid AND ended_at IS NULL AND id::text <> ${except}`;
}

/** Deletes sessions that have ended long ago. */
export async function deleteOldSessions(db: SqlTx, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM operator_session WHERE id IN (
      SELECT id FROM operator_session
      WHERE created_at < clock_timestamp() - interval '30 days' LIMIT ${limit})`;
}
