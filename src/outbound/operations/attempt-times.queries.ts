// When the attempts of an operation were made, in bank time. The offset between the bank's clock
// and PostgreSQL's is known from before and from after each attempt, at least and at most. One of
// the clocks may have been set in between, so the widest span counts.
import { Prisma } from '../../generated/service/client.js';
import { steadyClockMs } from '../../statement/lines/bank-clock.queries.js';

const milliseconds = Prisma.sql`interval '1 millisecond'`;

/**
 * The bank time from which an attempt (a) can have had an effect. Until a sync after the attempt
 * has completed, the offset of the last sync (s) counts.
 */
export const attemptStart = Prisma.sql`(a.started_at + LEAST(
  a.clock_offset_ms, COALESCE(a.clock_offset_after_ms, s.clock_offset_ms)) * ${milliseconds})`;

/** The bank time after which no byte of an attempt (a) was sent. */
export const attemptEnd = Prisma.sql`(a.send_by + GREATEST(a.clock_offset_max_ms,
  COALESCE(a.clock_offset_after_max_ms, s.clock_offset_max_ms)) * ${milliseconds})`;

/**
 * Whether no clock was set since before an attempt (a): the offsets before and after it and that of
 * the last sync (s) agree. While they do not, the span of the attempt may be wrong, however wide.
 */
export const hasSteadyClocks = Prisma.sql`(a.clock_offset_ms IS NOT NULL
  AND a.clock_offset_after_ms IS NOT NULL
  AND GREATEST(a.clock_offset_ms, a.clock_offset_after_ms, s.clock_offset_ms)
    - LEAST(a.clock_offset_max_ms, a.clock_offset_after_max_ms, s.clock_offset_max_ms)
    <= ${steadyClockMs})`;
