// Reads how many jobs are in the queue, from BullMQ's table in PostgreSQL or from Redis.
import type { Queue } from 'bullmq';
import type pg from 'pg';

export const jobStates = ['waiting', 'delayed', 'active'] as const;
export type QueuedJobState = (typeof jobStates)[number];

export interface QueueDepth {
  queue: string;
  state: QueuedJobState;
  jobs: number;
  /** How long the oldest of them could have been run, if they are waiting. */
  oldestSeconds: number;
}

/** Queues without a job of a state are left out. */
export async function listDepthsInPostgres(pool: pg.Pool): Promise<QueueDepth[]> {
  const { rows } = await pool.query<QueueDepth>(
    `SELECT queue, state::text AS state, count(*)::int AS jobs,
            GREATEST(0, extract(epoch FROM clock_timestamp())
              - min(added_at_ms + delay_ms) / 1000.0)::float8 AS "oldestSeconds"
     FROM job WHERE state IN ('waiting', 'delayed', 'active') GROUP BY queue, state`,
  );
  return rows;
}

/** BullMQ keeps jobs with a priority apart; both kinds wait. */
const waitingTypes = ['waiting', 'prioritized'] as const;

export async function listDepthsInRedis(queues: readonly Queue[]): Promise<QueueDepth[]> {
  const depths = await Promise.all(queues.map(depthsOfQueue));
  return depths.flat();
}

async function depthsOfQueue(queue: Queue): Promise<QueueDepth[]> {
  const counts = await queue.getJobCounts(...waitingTypes, 'delayed', 'active');
  const { waiting = 0, prioritized = 0, delayed = 0, active = 0 } = counts;
  const first = await Promise.all(waitingTypes.map((type) => queue.getJobs(type, 0, 0, true)));
  const now = Date.now();
  const ages = first.flat().map(({ timestamp, delay }) => (now - timestamp - delay) / 1_000);
  const of = { queue: queue.name, oldestSeconds: 0 };
  return [
    { ...of, state: 'waiting', jobs: waiting + prioritized, oldestSeconds: Math.max(0, ...ages) },
    { ...of, state: 'delayed', jobs: delayed },
    { ...of, state: 'active', jobs: active },
  ];
}
