// Finds the charges of `/v1/charges`, by the ids of their operations.
import type { Db } from '../../platform/postgres/database.service.js';
import { findByMetadata } from '../../statement/expected-payments/metadata.queries.js';
import type { MetadataText } from '../../statement/expected-payments/metadata.js';
import { fewRows, type Examined } from '../../platform/http/examined-ids.queries.js';
import { Prisma } from '../../generated/service/client.js';

export interface ChargeFilters {
  correlationId?: string | undefined;
  type?: string | undefined;
  metadata?: MetadataText | undefined;
}

export async function findCharges(
  db: Db,
  accountId: number,
  { correlationId, type, metadata }: ChargeFilters,
): Promise<Examined> {
  const table = Prisma.sql`charge`;
  const named = metadata && (await findByMetadata(db, accountId, metadata)).expectedPaymentIds;
  const few = [
    ...(correlationId ? [Prisma.sql`correlation_id = ${correlationId}`] : []),
    ...(named ? [Prisma.sql`expected_payment_id = ANY (${named}::uuid[])`] : []),
  ];
  return {
    rows: few.length > 0 ? fewRows(table, accountId, Prisma.join(few, ' AND ')) : table,
    key: Prisma.sql`operation_id`,
    filters: type ? [Prisma.sql`type = ${type}`] : [],
  };
}
