// Finds failed transfers whose debit the statement can no longer show.
import { Prisma } from '../../generated/service/client.js';
import type { Reader } from '../../platform/postgres/database.service.js';
import { attemptStart } from '../operations/attempt-times.queries.js';
import { clockToleranceMs, type EffectPeriod } from '../operations/effect-period.js';
import type { OperationRef } from '../operations/operations.queries.js';

/** Of the clock offsets before and after an attempt (a) and at the last sync (s), the largest. */
const largestOffsetMs = Prisma.sql`GREATEST(
  a.clock_offset_max_ms, a.clock_offset_after_max_ms, s.clock_offset_max_ms)`;

export interface UndebitedTransfer extends OperationRef, EffectPeriod {
  expectedPaymentId: string;
}

/**
 * Failed transfers without a line that are still expected, whose period is closed: from before the
 * first attempt until the visibility bound after the bank reported the failure.
 */
export async function listUndebitedTransfers(
  db: Reader,
  boundMs: number,
): Promise<UndebitedTransfer[]> {
  return db.$queryRaw`
    SELECT t.account_id, t.operation_id AS id, t.expected_payment_id, effect."from", effect.until
    FROM transfer t
    JOIN expected_payment_total total ON total.account_id = t.account_id
      AND total.expected_payment_id = t.expected_payment_id AND total.settlement = 'open'
    JOIN statement_state s ON s.account_id = t.account_id
    CROSS JOIN LATERAL (
      SELECT min(${attemptStart}) - ${clockToleranceMs} * interval '1 millisecond' AS "from",
             t.updated_at + (max(${largestOffsetMs}) + ${boundMs}) * interval '1 millisecond'
               AS until
      FROM operation_attempt a
      WHERE a.account_id = t.account_id AND a.operation_id = t.operation_id
    ) effect
    WHERE t.state = 'failed' AND s.closed_from <= effect."from" AND s.closed_until >= effect.until`;
}
