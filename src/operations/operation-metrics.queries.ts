// Reads the operations without an end, of all accounts, for the metrics.
import type { Db } from '../database.service.js';
import type { OperationState } from '../generated/service/client.js';
import { maxCounted } from '../platform/instruments.js';

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
      WHERE state = 'received' OR state = 'sending' OR state = 'unknown'
        OR state = 'needs_operator' OR state = 'awaiting_approval'
      LIMIT ${maxCounted}
    ) unfinished
    GROUP BY state`;
}
