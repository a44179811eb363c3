// The connections of the process to PostgreSQL, read from the memory of their pools.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { Metrics } from './metrics.js';

const poolNames = ['database', 'queue'] as const;
type PoolName = (typeof poolNames)[number];
type PoolUse = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;

@Injectable()
export class PoolMetrics {
  private readonly pools = new Map<PoolName, PoolUse>();

  constructor(metrics: Metrics) {
    const connections = metrics.gauge({
      name: 'concilia_pool_connections',
      help: 'Open connections of a pool of this process.',
      labels: { pool: poolNames, state: ['used', 'idle'] },
    });
    const waiting = metrics.gauge({
      name: 'concilia_pool_waiting',
      help: 'Queries and transactions that wait for a connection of the pool.',
      labels: { pool: poolNames },
    });
    metrics.observe(() => {
      for (const [pool, { totalCount, idleCount, waitingCount }] of this.pools) {
        connections.set({ pool, state: 'used' }, totalCount - idleCount);
        connections.set({ pool, state: 'idle' }, idleCount);
        waiting.set({ pool }, waitingCount);
      }
    });
  }

  add(name: PoolName, pool: PoolUse): void {
    this.pools.set(name, pool);
  }
}
