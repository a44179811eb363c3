// Reads onboardings with the state and the stored response of their operations.
import type { Db, Tx } from '../database.service.js';

/** The latest onboarding of a document whose outcome is unknown, or that was not executed. */
export async function findUnresolvedOnboarding(
  db: Db,
  accountId: number,
  documentHash: string,
): Promise<string | null> {
  const [found] = await db.$queryRaw<{ id: string }[]>`
    SELECT c.id
    FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.document_hash = ${documentHash}
      AND o.state IN ('unknown', 'needs_operator', 'not_executed')
    ORDER BY c.id DESC LIMIT 1`;
  return found?.id ?? null;
}

/** The bank's response to an onboarding, even if this transaction has just stored it. */
export async function findOnboardingResponse(
  tx: Tx,
  accountId: number,
  operationId: string,
): Promise<{ status: number | null; body: string | null; documentHash: string } | null> {
  const [found] = await tx.$queryRaw<
    { status: number | null; body: string | null; documentHash: string }[]
  >`
    SELECT o.response_status AS status, o.response_body AS body, c.document_hash
    FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.id = ${operationId}::uuid`;
  return found ?? null;
}

/** The onboardings of a document whose outcome is unknown; locks their operations. */
export async function listUncertainOnboardings(
  tx: Tx,
  accountId: number,
  documentHash: string,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT c.id
    FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.document_hash = ${documentHash}
      AND o.state IN ('unknown', 'needs_operator')
    ORDER BY c.id FOR NO KEY UPDATE OF o`;
  return rows.map(({ id }) => id);
}
