// What became of the onboardings of one document.
import type { Db, Tx } from '../database.service.js';
import type { OperationState } from '../operations/operation.js';

export interface CustomerRow {
  id: string;
  operationState: OperationState;
  reason: string | null;
  attempts: number;
  requestBody: string;
  responseStatus: number | null;
  responseBody: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export async function findCustomer(
  db: Db,
  accountId: number,
  id: string,
): Promise<CustomerRow | null> {
  const [found] = await db.$queryRaw<CustomerRow[]>`
    SELECT c.id, o.state AS "operationState", o.reason, o.attempts, o.request_body AS "requestBody",
           o.response_status AS "responseStatus", o.response_body AS "responseBody",
           o.created_at AS "createdAt", o.updated_at AS "updatedAt"
    FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.id = ${id}::uuid`;
  return found ?? null;
}

/** The last onboarding of a document that ended without anybody knowing how, or without being asked for. */
export async function findUnresolved(
  db: Db,
  accountId: number,
  documentHash: string,
): Promise<string | null> {
  const [found] = await db.$queryRaw<{ id: string }[]>`
    SELECT c.id FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.document_hash = ${documentHash}
      AND o.state IN ('unknown', 'needs_operator', 'not_executed')
    ORDER BY c.id DESC LIMIT 1`;
  return found?.id ?? null;
}

/** The status that an operation was answered with, as this transaction sees it. */
export async function findAnswer(
  tx: Tx,
  accountId: number,
  operationId: string,
): Promise<{ status: number | null; body: string | null; documentHash: string } | null> {
  const [found] = await tx.$queryRaw<
    { status: number | null; body: string | null; documentHash: string }[]
  >`
    SELECT o.response_status AS status, o.response_body AS body, c.document_hash AS "documentHash"
    FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.id = ${operationId}::uuid`;
  return found ?? null;
}

/** Other onboardings of a document that may have had their effect. */
export async function listUncertain(
  tx: Tx,
  accountId: number,
  documentHash: string,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT c.id FROM customer c JOIN operation o ON o.account_id = c.account_id AND o.id = c.id
    WHERE c.account_id = ${accountId} AND c.document_hash = ${documentHash}
      AND o.state IN ('unknown', 'needs_operator')
    ORDER BY c.id FOR UPDATE OF o`;
  return rows.map(({ id }) => id);
}
