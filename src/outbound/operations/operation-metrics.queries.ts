// Reads the operations without an end, of all accounts, for the metrics.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma, type OperationState } from '../../generated/service/client.js';
import { hasUnknownEffect } from '../operation-states.js';
import { maxCounted } from '../../platform/metrics/instruments.js';

export interface UnfinishedOperations {
  state: OperationState;
  operations: number;
  oldestSeconds: number;
}

/** States without such an operation are left out. */
export async function listUnfinishedByState(db: Db): Promise<UnfinishedOperations[]> {
  return db.$queryRaw<UnfinishedOperations[]>`
    SELECT state, count(*)::int AS operations,
           extract(epoch FROM clock_timestamp() - min(created_at))::float8 AS "oldestSeconds"
    FROM (
      SELECT state, created_at FROM operation
      WHERE ${Prisma.raw(hasUnknownEffect)}
      LIMIT ${maxCounted}
    ) unfinished
    GROUP BY state`;
}
