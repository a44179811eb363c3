// Finds the charges of `/v1/charges`, by the ids of their operations.
import type { Db } from '../../platform/postgres/database.service.js';
import { findByMetadata } from '../../statement/expected-payments/metadata.queries.js';
import type { MetadataText } from '../../statement/expected-payments/metadata.js';
import type { PlainDate } from '../../brazil/calendar.js';
import {
  amountRange,
  createdRows,
  fewRows,
  type Examined,
  type PaymentRange,
} from '../../platform/http/examined-ids.queries.js';
import type { ChargeSettlement } from './charge-settlement.js';
import { Prisma } from '../../generated/service/client.js';

export interface ChargeFilters extends PaymentRange {
  correlationId?: string | undefined;
  type?: string | undefined;
  settlement?: ChargeSettlement | undefined;
  metadata?: MetadataText | undefined;
}

export async function findCharges(
  db: Db,
  accountId: number,
  { correlationId, type, settlement, metadata, ...range }: ChargeFilters,
  /** Unpaid charges that were due until then have expired. */
  expiredUntil: PlainDate,
): Promise<Examined> {
  const table = Prisma.sql`charge`;
  const named = metadata && (await findByMetadata(db, accountId, metadata)).expectedPaymentIds;
  const few = [
    ...(correlationId ? [Prisma.sql`correlation_id = ${correlationId}`] : []),
    ...(named ? [Prisma.sql`expected_payment_id = ANY (${named}::uuid[])`] : []),
  ];
  const key = Prisma.sql`operation_id`;
  const rows = few.length > 0 ? fewRows(table, accountId, Prisma.join(few, ' AND ')) : table;
  return {
    ...{ key, rows: createdRows(rows, accountId, key, range) },
    filters: [
      ...amountRange(range),
      ...(type ? [Prisma.sql`type = ${type}`] : []),
      ...(settlement ? [Prisma.sql`${settlementUntil(expiredUntil)} = ${settlement}`] : []),
    ],
  };
}

/** As `chargeSettlement`, of an examined charge. */
const settlementUntil = (expiredUntil: PlainDate) => Prisma.sql`(
  SELECT CASE
    WHEN total.settlement NOT IN ('open', 'withdrawn') THEN total.settlement::text
    WHEN examined.cancelled_at IS NOT NULL THEN 'cancelled'
    WHEN examined.expired_at IS NOT NULL OR e.due_date <= ${expiredUntil} THEN 'expired'
    ELSE 'open' END
  FROM expected_payment e
  LEFT JOIN expected_payment_total total
    ON total.account_id = e.account_id AND total.expected_payment_id = e.id
  WHERE e.account_id = examined.account_id AND e.id = examined.expected_payment_id)`;
