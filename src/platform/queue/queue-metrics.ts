// The depth of each job's queue. Its values are of the whole queue, the same in every process.
import { getQueueToken } from '@nestjs/bullmq';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Queue } from 'bullmq';
import pg from 'pg';
import { jobs } from './queues.js';
import { Metrics } from '../metrics/metrics.js';
import { PoolMetrics } from '../metrics/pool-metrics.js';
import {
  jobStates,
  listDepthsInPostgres,
  listDepthsInRedis,
  type QueueDepth,
} from './queue-depth.queries.js';

const queueNames = Object.values(jobs).map(({ name }) => name);

@Injectable()
export class QueueMetrics implements OnModuleInit {
  private listDepths: () => Promise<QueueDepth[]> = () => Promise.resolve([]);

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly metrics: Metrics,
    private readonly pools: PoolMetrics,
  ) {}

  onModuleInit(): void {
    const queues = queueNames.map((name) =>
      this.moduleRef.get<Queue>(getQueueToken(name), { strict: false }),
    );
    const connection: unknown = queues[0]?.opts.connection;
    const pool = connection instanceof pg.Pool ? connection : null;
    if (pool) this.pools.add('queue', pool);
    this.listDepths = () => (pool ? listDepthsInPostgres(pool) : listDepthsInRedis(queues));
    const depth = this.metrics.gauge({
      name: 'concilia_queue_jobs',
      help: 'Jobs in the queue of each job, by state.',
      labels: { job: queueNames, state: jobStates },
    });
    const oldest = this.metrics.gauge({
      name: 'concilia_queue_oldest_waiting_seconds',
      help: 'How long the oldest waiting job of the queue could have been run; 0 if none waits.',
      labels: { job: queueNames },
    });
    this.metrics.addReading('queue', [depth, oldest], async () => {
      const depths = await this.listDepths();
      const find = (job: string, state: string) =>
        depths.find((one) => one.queue === job && one.state === state);
      for (const job of queueNames) {
        for (const state of jobStates) depth.set({ job, state }, find(job, state)?.jobs ?? 0);
        oldest.set({ job }, find(job, 'waiting')?.oldestSeconds ?? 0);
      }
    });
  }

  /** The jobs of all accounts that wait to be run, and how long the oldest has waited. */
  async readWaiting(): Promise<{ jobs: number; oldestSeconds: number }> {
    const depths = await this.listDepths();
    const waiting = depths.filter(({ state }) => state === 'waiting');
    return {
      jobs: waiting.reduce((sum, { jobs: some }) => sum + some, 0),
      oldestSeconds: Math.max(0, ...waiting.map(({ oldestSeconds }) => oldestSeconds)),
    };
  }
}
