// Reads onboardings with the state and the stored response of their operations.
import type { Tx } from '../database.service.js';
import type { OperationRef } from '../operations/operations.queries.js';

/** An onboarding and the bank's response, even if this transaction has just stored it. */
export function findOnboarding(tx: Tx, { accountId, id }: OperationRef) {
  return tx.customer.findUnique({
    where: { accountId_id: { accountId, id } },
    include: { operation: { select: { responseStatus: true, responseBody: true } } },
  });
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
