// The SQL of bulk uploads. A row's request is stored only until the row is issued.
import { holderOfActor } from '../../access/accounts/holders.queries.js';
import { ordering } from '../../platform/http/examined-ids.queries.js';
import type { Page } from '../../platform/http/listing.js';
import type { Db, Tx, Reader } from '../../platform/postgres/database.service.js';
import {
  Prisma,
  type BulkMapping,
  type BulkRow,
  type BulkRowState,
  type BulkUpload,
} from '../../generated/service/client.js';

export type StoredUpload = Pick<BulkUpload, 'id' | 'kind' | 'rows' | 'createdAt' | 'finishedAt'> &
  Record<BulkRowState, number>;

/** The rows of finished uploads are counted already; those of the others are counted now. */
export async function listUploads(
  db: Db,
  accountId: number,
  { id, kind, after, limit, order }: Page & { id?: string; kind?: string | undefined },
): Promise<StoredUpload[]> {
  const { past, sort } = ordering(order);
  return db.$queryRaw<StoredUpload[]>`
    SELECT u.id, u.kind, u.rows, u.created_at, u.finished_at, n.pending,
           COALESCE(u.accepted, n.accepted) AS accepted,
           COALESCE(u.rejected, n.rejected) AS rejected,
           COALESCE(u.invalid, n.invalid) AS invalid
    FROM bulk_upload u CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
             count(*) FILTER (WHERE state = 'accepted')::int AS accepted,
             count(*) FILTER (WHERE state = 'rejected')::int AS rejected,
             count(*) FILTER (WHERE state = 'invalid')::int AS invalid
      FROM bulk_row r
      WHERE u.finished_at IS NULL AND r.account_id = u.account_id AND r.upload_id = u.id) n
    WHERE u.account_id = ${accountId} AND u.id = COALESCE(${id ?? null}::uuid, u.id)
      ${kind === undefined ? Prisma.empty : Prisma.sql`AND u.kind = ${kind}::bulk_upload_kind`}
      ${after === null ? Prisma.empty : Prisma.sql`AND u.id ${past} ${after}::uuid`}
    ORDER BY u.id ${sort} LIMIT ${limit}`;
}

/** The oldest uploads that have rows to issue. */
export async function listUnfinishedUploads(
  db: Reader,
  limit: number,
): Promise<Pick<BulkUpload, 'accountId' | 'id'>[]> {
  return db.$queryRaw`
    SELECT account_id, id FROM bulk_upload WHERE finished_at IS NULL
    ORDER BY created_at LIMIT ${limit}`;
}

export type NewUploadRow = Pick<BulkRow, 'line' | 'reference' | 'request' | 'state' | 'errors'>;

export async function insertUploadRows(
  tx: Tx,
  { accountId, id }: { accountId: number; id: string },
  rows: NewUploadRow[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO bulk_row (account_id, upload_id, line, reference, request, state, errors)
    SELECT ${accountId}, ${id}::uuid, r.line, r.reference, r.request, r.state, r.errors
    FROM unnest(
      ${rows.map(({ line }) => line)}::int[],
      ${rows.map(({ reference }) => reference)}::text[],
      ${rows.map(({ request }) => request)}::text[],
      ${rows.map(({ state }) => state)}::bulk_row_state[],
      ${rows.map(({ errors }) => errors)}::text[]
    ) AS r(line, reference, request, state, errors)`;
}

/**
 * Ties a row to the operation that was stored for it. False when the row is not pending, or has
 * another operation whose request may have reached the bank.
 */
export async function claimUploadRow(
  tx: Tx,
  { accountId, uploadId, line }: BulkRow,
  operationId: string,
): Promise<boolean> {
  const claimed = await tx.$executeRaw`
    UPDATE bulk_row r SET operation_id = ${operationId}::uuid
    WHERE r.account_id = ${accountId} AND r.upload_id = ${uploadId}::uuid AND r.line = ${line}
      AND r.state = 'pending' AND NOT EXISTS (
        SELECT 1 FROM operation o
        WHERE o.account_id = r.account_id AND o.id = r.operation_id
          AND o.reason IS DISTINCT FROM 'never_sent')`;
  return claimed === 1;
}

/** Marks the upload as finished when no row is pending, and stores how its rows ended. */
export async function finishUploadIfDone(db: Db, accountId: number, id: string): Promise<void> {
  await db.$executeRaw`
    WITH done AS (
      SELECT account_id, id FROM bulk_upload u
      WHERE u.account_id = ${accountId} AND u.id = ${id}::uuid AND u.finished_at IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM bulk_row r
          WHERE r.account_id = u.account_id AND r.upload_id = u.id AND r.state = 'pending'))
    UPDATE bulk_upload u SET finished_at = clock_timestamp(), accepted = n.accepted,
      rejected = n.rejected, invalid = n.invalid
    FROM done CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE state = 'accepted')::int AS accepted,
             count(*) FILTER (WHERE state = 'rejected')::int AS rejected,
             count(*) FILTER (WHERE state = 'invalid')::int AS invalid
      FROM bulk_row r WHERE r.account_id = done.account_id AND r.upload_id = done.id) n
    WHERE u.account_id = done.account_id AND u.id = done.id AND u.finished_at IS NULL`;
}

/** Rows (r) of an upload whose operations (o) await approval. */
const rowsAwaitingApproval = (accountId: number, uploadId: string) => Prisma.sql`
  FROM bulk_row r JOIN operation o ON o.account_id = r.account_id AND o.id = r.operation_id
  WHERE r.account_id = ${accountId} AND r.upload_id = ${uploadId}::uuid AND r.state = 'accepted'
    AND o.state = 'awaiting_approval'`;

/**
 * In the order of the file, without those that the holder of the actor has decided. A decision by a
 * key that was revoked since does not count: its holder may decide again.
 */
export async function listRowsAwaitingApproval(
  db: Db,
  accountId: number,
  uploadId: string,
  { afterLine, limit, actor }: { afterLine: number; limit: number; actor: string },
): Promise<{ line: number; operationId: string }[]> {
  return db.$queryRaw<{ line: number; operationId: string }[]>`
    SELECT r.line, o.id AS "operationId" ${rowsAwaitingApproval(accountId, uploadId)}
      AND r.line > ${afterLine} AND NOT EXISTS (
        SELECT FROM operation_approval a
        WHERE a.account_id = o.account_id AND a.operation_id = o.id
          AND a.holder = ${holderOfActor(accountId, actor)} AND NOT EXISTS (
            SELECT FROM api_key k
            WHERE k.account_id = a.account_id AND k.holder = a.holder
              AND k.id::text = a.actor AND k.revoked_at IS NOT NULL))
    ORDER BY r.line LIMIT ${limit}`;
}

export async function countRowsAwaitingApproval(
  db: Db,
  accountId: number,
  uploadId: string,
): Promise<number> {
  const [counted] = await db.$queryRaw<{ rows: number }[]>`
    SELECT count(*)::int AS rows ${rowsAwaitingApproval(accountId, uploadId)}`;
  return counted?.rows ?? 0;
}

/** The latest mapping of the same headers stands. */
export async function rememberMapping(
  db: Db,
  { accountId, headersHash, target, fields, actor }: Omit<BulkMapping, 'mappedAt'>,
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO bulk_mapping (account_id, headers_hash, target, fields, actor)
    VALUES (${accountId}, ${headersHash}, ${target}::bulk_mapping_target, ${fields}, ${actor})
    ON CONFLICT (account_id, headers_hash) DO UPDATE
    SET target = EXCLUDED.target, fields = EXCLUDED.fields, actor = EXCLUDED.actor,
        mapped_at = clock_timestamp()`;
}
