// What a business system knows a payment by, for events: its own ids and its metadata.
import { opaqueAccountId, type Db, type Reader } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { Metadata } from './metadata.js';
import { metadataColumn } from './metadata.queries.js';

/** The correlationId of the charge that a received Pix paid, as a column; null without a charge. */
const correlationIdOfLine = (accountId: Prisma.Sql, nsu: Prisma.Sql) => Prisma.sql`COALESCE((
  SELECT charge.correlation_id FROM match
  JOIN charge ON charge.account_id = match.account_id
    AND charge.expected_payment_id = match.expected_payment_id
  WHERE match.account_id = ${accountId} AND match.nsu = ${nsu} AND match.role = 'payment'
    AND match.unlinked_at IS NULL
  ORDER BY charge.correlation_id LIMIT 1
), (SELECT correlation_id FROM statement_line WHERE account_id = ${accountId} AND nsu = ${nsu}))`;

/** By nsu, the correlationIds of the charges that these received Pix paid. */
export async function listPaidCorrelationIds(
  db: Reader,
  accountId: number,
  nsus: readonly bigint[],
): Promise<Map<bigint, string>> {
  if (nsus.length === 0) return new Map();
  const account = Prisma.sql`${opaqueAccountId(accountId)}`;
  const rows = await db.$queryRaw<{ nsu: bigint; correlationId: string | null }[]>`
    SELECT paid.nsu, ${correlationIdOfLine(account, Prisma.sql`paid.nsu`)} AS correlation_id
    FROM unnest(${[...nsus]}::bigint[]) AS paid(nsu)`;
  return new Map(
    rows.flatMap(({ nsu, correlationId }) =>
      correlationId === null ? [] : [[nsu, correlationId]],
    ),
  );
}

interface OperationSubjectRow {
  correlationId: string | null;
  externalId: string | null;
  endToEndId: string | null;
  barCode: string | null;
  originalNsu: bigint | null;
  originalEndToEndId: string | null;
  metadata: Metadata | null;
}
export type OperationSubject = Partial<OperationSubjectRow>;

/**
 * The ids that are known of an operation with one expected payment, or with the correlationId in
 * its path. Rows of its module may be deleted already; references stay.
 */
export async function readOperationSubject(
  db: Db,
  accountId: number,
  operationId: string,
): Promise<OperationSubject> {
  const account = Prisma.sql`${opaqueAccountId(accountId)}`;
  const referenceOf = (kind: string) => Prisma.sql`(
    SELECT min(value) FROM expected_payment_reference
    WHERE account_id = ${account} AND expected_payment_id = payment.id AND kind = ${kind})`;
  const [row] = await db.$queryRaw<OperationSubjectRow[]>`
    SELECT COALESCE(${referenceOf('correlation_id')},
             ${correlationIdOfLine(account, Prisma.sql`r.original_nsu`)},
             o.request_params::jsonb ->> 'correlationId') AS correlation_id,
           ${referenceOf('external_id')} AS external_id,
           ${referenceOf('end_to_end_id')} AS end_to_end_id,
           ${referenceOf('bill_code')} AS "barCode", r.original_nsu,
           ${referenceOf('original_end_to_end_id')} AS "originalEndToEndId",
           ${metadataColumn(account, Prisma.sql`payment.id`)} AS metadata
    FROM operation o
    LEFT JOIN LATERAL (
      SELECT CASE WHEN cardinality(ids) = 1 THEN ids[1] END AS id FROM (
        SELECT ARRAY(SELECT id FROM expected_payment
          WHERE account_id = ${account} AND operation_id = o.id LIMIT 2) AS ids
      ) expected
    ) payment ON true
    LEFT JOIN refund r ON r.account_id = o.account_id AND r.id = o.id
    WHERE o.account_id = ${accountId} AND o.id = ${operationId}::uuid`;
  return known(row ?? {});
}

/** The fields that are not null. */
export function known<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<Fields>;
}
