// SQL about operations whose response never came: which they are, and when their money can have
// moved.
import { opaqueAccountId } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';

/** How far our clock or the bank's clock may differ from the time of an effect at the bank. */
const skewMs = 30_000;

/** Must equal the condition of the index operation_without_response, so that PostgreSQL uses it. */
export const isWithoutResponse = Prisma.sql`(o.state <> 'rejected'
  AND (o.state <> 'succeeded' OR o.response_status IS NULL))`;

/**
 * The span of bank time in which the money of an operation (o) can have moved. It follows from the
 * clock offsets at the attempts, and not from today's.
 */
export const effectOfOperation = (accountId: number, boundMs: number) => Prisma.sql`
  SELECT COALESCE(
           min(a.started_at + LEAST(a.clock_offset_ms, after_ms) * interval '1 millisecond'),
           o.created_at + clock.ms * interval '1 millisecond'
         ) - ${skewMs} * interval '1 millisecond' AS "from",
         GREATEST(
           COALESCE(
             max(a.send_by + GREATEST(a.clock_offset_ms, after_ms) * interval '1 millisecond'),
             o.created_at + clock.ms * interval '1 millisecond'),
           o.effective_from
         ) + ${boundMs} * interval '1 millisecond' AS "until"
  FROM (
    SELECT COALESCE(max(clock_offset_ms), 0) AS ms
    FROM statement_state WHERE account_id = ${opaqueAccountId(accountId)}
  ) clock
  LEFT JOIN LATERAL (
    SELECT *, COALESCE(clock_offset_after_ms, clock.ms) AS after_ms FROM operation_attempt
    WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = o.id OFFSET 0
  ) a ON true
  GROUP BY clock.ms`;
