// Finds the operations of `/v1/operations`.
import type { RouteInput } from '../../bank-contract/route.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { findByMetadata } from '../../statement/expected-payments/metadata.queries.js';
import { fewRows, type Examined } from '../../platform/http/examined-ids.queries.js';
import { Prisma } from '../../generated/service/client.js';
import { hasUnknownEffect, statesWithUnknownEffect } from '../operation-states.js';
import type { listOperations } from './operations.schema.js';

export async function findOperations(
  db: Db,
  accountId: number,
  { state, kind, idempotencyKey, metadata }: RouteInput<typeof listOperations>['query'],
): Promise<Examined> {
  const table = Prisma.sql`operation`;
  const ofState = Prisma.sql`state = ${state}::operation_state`;
  const ofKey = Prisma.sql`idempotency_key = ${idempotencyKey}`;
  const named = metadata && (await findByMetadata(db, accountId, metadata)).operationIds;
  const few = named
    ? Prisma.sql`id = ANY (${named}::uuid[])`
    : idempotencyKey
      ? ofKey
      : state && statesWithUnknownEffect.includes(state)
        ? Prisma.sql`(${ofState} AND (${Prisma.raw(hasUnknownEffect)}))`
        : null;
  return {
    rows: few ? fewRows(table, accountId, few) : table,
    key: Prisma.sql`id`,
    filters: [
      ...(named && idempotencyKey ? [ofKey] : []),
      ...(state ? [ofState] : []),
      ...(kind ? [Prisma.sql`kind = ${kind}`] : []),
    ],
  };
}
