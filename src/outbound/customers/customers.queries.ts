// Reads onboardings with the state and the stored response of their operations.
import type { Tx } from '../../platform/postgres/database.service.js';
import type { ReportedCustomerStatus } from '../../generated/service/client.js';
import type { OperationRef } from '../operations/operations.queries.js';

/** An onboarding and the bank's response, even if this transaction has just stored it. */
export function findOnboarding(tx: Tx, { accountId, id }: OperationRef) {
  return tx.customer.findUnique({
    where: { accountId_id: { accountId, id } },
    include: { operation: { select: { responseStatus: true, responseBody: true } } },
  });
}

/** What the webhooks of the bank report about an onboarding. */
export interface CustomerReport {
  /** Ids in the webhook, one of which may be the bank's id of the customer. */
  bankIds: string[];
  /** Null where the webhook has no whole document. */
  documentHash: string | null;
  status: ReportedCustomerStatus;
  /** In the bank's time. */
  reportedAt: Date;
}

/**
 * Records a report about the newest accepted onboarding that it is about. An approval is final: a
 * refusal may come late, or come before the documents were sent again. `isNew` is false for a
 * repeat, and for a refusal after the approval. Null when there is no such onboarding.
 */
export async function recordReport(
  tx: Tx,
  accountId: number,
  { bankIds, documentHash, status, reportedAt }: CustomerReport,
): Promise<{ id: string; bankId: string | null; isNew: boolean } | null> {
  const found = await tx.customer.findFirst({
    where: {
      accountId,
      state: 'accepted',
      OR: [{ bankId: { in: bankIds } }, ...(documentHash ? [{ documentHash }] : [])],
    },
    orderBy: { id: 'desc' },
    select: { id: true, bankId: true },
  });
  if (!found) return null;
  const { count } = await tx.customer.updateMany({
    where: {
      ...{ accountId, id: found.id },
      OR: [
        { reportedStatus: null },
        ...(status === 'approved' ? [{ reportedStatus: 'refused' as const }] : []),
      ],
    },
    data: { reportedStatus: status, reportedAt },
  });
  return { ...found, isNew: count > 0 };
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
