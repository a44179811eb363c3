// Stores, reads, searches and deletes the metadata of expected payments.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { AppError } from '../../platform/errors.js';
import type { Metadata, MetadataText } from './metadata.js';

export interface PaymentMetadata {
  expectedPaymentId: string;
  metadata: Metadata;
}

export function metadataWrite(accountId: number, payments: readonly PaymentMetadata[]): Write {
  const rows = payments.flatMap(({ expectedPaymentId, metadata }) =>
    Object.entries(metadata).map(([key, value]) => ({ expectedPaymentId, key, value })),
  );
  const sql = Prisma.sql`
    INSERT INTO expected_payment_metadata (account_id, expected_payment_id, key, value)
    SELECT ${accountId}::int, "expectedPaymentId", key, value
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS r("expectedPaymentId" uuid, key text, value text)`;
  return { sql, rows: rows.length };
}

/** The metadata of an expected payment as a column; null without metadata. */
export const metadataColumn = (accountId: Prisma.Sql, expectedPaymentId: Prisma.Sql) => Prisma.sql`(
  SELECT jsonb_object_agg(texts.key, texts.value) FROM (
    SELECT key, value FROM expected_payment_metadata
    WHERE account_id = ${accountId} AND expected_payment_id = ${expectedPaymentId} OFFSET 0
  ) texts)`;

/** The same, of a row that names its expected payment. */
export const metadataOfRow = (row: string) =>
  metadataColumn(Prisma.raw(`${row}.account_id`), Prisma.raw(`${row}.expected_payment_id`));

/** By operation; operations with several expected payments, such as batches, are left out. */
export async function listMetadataOfOperations(
  db: Db,
  accountId: number,
  operationIds: readonly string[],
): Promise<Map<string, Metadata>> {
  if (operationIds.length === 0) return new Map();
  const account = Prisma.sql`${opaqueAccountId(accountId)}`;
  const rows = await db.$queryRaw<{ operationId: string; metadata: Metadata | null }[]>`
    SELECT wanted.id AS "operationId",
           ${metadataColumn(account, Prisma.sql`payment.ids[1]`)} AS metadata
    FROM unnest(${[...operationIds]}::uuid[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT ARRAY(SELECT id FROM expected_payment
        WHERE account_id = ${account} AND operation_id = wanted.id LIMIT 2) AS ids OFFSET 0
    ) payment
    WHERE cardinality(payment.ids) = 1`;
  return new Map(
    rows.flatMap(({ operationId, metadata }) => (metadata ? [[operationId, metadata]] : [])),
  );
}

/** A search reads this many payments. A text that more of them have does not find one. */
export const maxFoundByMetadata = 10_000;

export interface FoundPayments {
  expectedPaymentIds: string[];
  operationIds: string[];
}

/** The response of a list, for its API reference. */
export const metadataTooCommon = {
  status: 422,
  description: 'Too many payments have the `metadata`; see `code`.',
};

/** The payments that have this text. Throws `rule_broken` when there are too many. */
export async function findByMetadata(
  db: Db,
  accountId: number,
  { key, value }: MetadataText,
): Promise<FoundPayments> {
  const rows = await db.$queryRaw<{ id: string; operationId: string | null }[]>`
    SELECT found.id, e.operation_id
    FROM (
      SELECT expected_payment_id AS id FROM expected_payment_metadata
      WHERE account_id = ${opaqueAccountId(accountId)} AND key = ${key} AND value = ${value}
      ORDER BY expected_payment_id DESC LIMIT ${maxFoundByMetadata + 1}
    ) found
    LEFT JOIN LATERAL (
      SELECT operation_id FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = found.id OFFSET 0
    ) e ON true`;
  if (rows.length > maxFoundByMetadata)
    throw new AppError('rule_broken', {
      reason: 'metadata_too_common',
      public:
        `More than ${maxFoundByMetadata} payments have this value of ${key}. ` +
        'Search by a text that fewer payments have.',
    });
  return {
    expectedPaymentIds: rows.map(({ id }) => id),
    operationIds: [...new Set(rows.flatMap(({ operationId }) => operationId ?? []))],
  };
}

/** Deletes the metadata of operations, with their bodies. */
export async function deleteMetadata(
  db: Db,
  operations: readonly { accountId: number; id: string }[],
): Promise<void> {
  await db.$executeRaw`
    DELETE FROM expected_payment_metadata m
    USING unnest(
        ${operations.map(({ accountId }) => accountId)}::int[],
        ${operations.map(({ id }) => id)}::uuid[]
      ) AS ended(account_id, id),
      expected_payment e
    WHERE e.account_id = ended.account_id AND e.operation_id = ended.id
      AND m.account_id = e.account_id AND m.expected_payment_id = e.id`;
}
