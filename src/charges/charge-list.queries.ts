// Finds the charges of a page of `/v1/charges`, by the ids of their operations.
import type { Db } from '../database.service.js';
import { fewRows, listExaminedIds, type ExaminedIds } from '../examined-ids.queries.js';
import { Prisma, type Charge } from '../generated/service/client.js';
import type { Page } from '../platform/listing.js';

export async function listChargeIds(
  db: Db,
  accountId: number,
  { correlationId, type }: Partial<Pick<Charge, 'correlationId' | 'type'>>,
  page: Page,
): Promise<ExaminedIds> {
  const table = Prisma.sql`charge`;
  const examined = {
    rows: correlationId
      ? fewRows(table, accountId, Prisma.sql`correlation_id = ${correlationId}`)
      : table,
    key: Prisma.sql`operation_id`,
    filters: type ? [Prisma.sql`type = ${type}`] : [],
  };
  return listExaminedIds(db, accountId, examined, page);
}
