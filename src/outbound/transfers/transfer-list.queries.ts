// Finds the transfers of `/v1/transfers`.
import type { Db } from '../../platform/postgres/database.service.js';
import { findByMetadata } from '../../statement/expected-payments/metadata.queries.js';
import type { MetadataText } from '../../statement/expected-payments/metadata.js';
import {
  amountRange,
  createdRows,
  fewRows,
  type Examined,
  type PaymentRange,
} from '../../platform/http/examined-ids.queries.js';
import { Prisma, type Transfer } from '../../generated/service/client.js';

export type TransferFilters = Partial<
  Pick<Transfer, 'state' | 'shape' | 'externalId' | 'endToEndId' | 'operationId'>
> &
  PaymentRange & { metadata?: MetadataText | undefined };

/** Transfers that have, or had before the bank sent them again, this endToEndId. */
const paidUnder = (accountId: number, endToEndId: string) => Prisma.sql`expected_payment_id IN (
  SELECT expected_payment_id FROM expected_payment_reference
  WHERE account_id = ${accountId} AND kind = 'end_to_end_id' AND value = ${endToEndId})`;

/** The newest transfers that have or had this endToEndId. */
export async function findIdsByEndToEndId(
  db: Db,
  accountId: number,
  endToEndId: string,
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM ${fewRows(Prisma.sql`transfer`, accountId, paidUnder(accountId, endToEndId))}
    ORDER BY id DESC LIMIT 1`;
  return rows.map(({ id }) => id);
}

export async function findTransfers(
  db: Db,
  accountId: number,
  { state, shape, externalId, endToEndId, operationId, metadata, ...range }: TransferFilters,
): Promise<Examined> {
  const table = Prisma.sql`transfer`;
  const named = metadata && (await findByMetadata(db, accountId, metadata)).expectedPaymentIds;
  const ids = [
    ...(named ? [Prisma.sql`expected_payment_id = ANY (${named}::uuid[])`] : []),
    ...(operationId ? [Prisma.sql`operation_id = ${operationId}::uuid`] : []),
    ...(endToEndId ? [paidUnder(accountId, endToEndId)] : []),
    ...(externalId ? [Prisma.sql`external_id = ${externalId}`] : []),
  ];
  const key = Prisma.sql`id`;
  const rows = ids.length > 0 ? fewRows(table, accountId, Prisma.join(ids, ' AND ')) : table;
  return {
    ...{ key, rows: createdRows(rows, accountId, key, range) },
    filters: [
      ...amountRange(range),
      ...(state ? [Prisma.sql`state = ${state}::transfer_state`] : []),
      ...(shape ? [Prisma.sql`shape = ${shape}::transfer_shape`] : []),
    ],
  };
}
