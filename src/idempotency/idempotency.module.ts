import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database.service.js';
import { Timers } from '../platform/timers.js';
import { deleteRecordsOlderThan } from './idempotency.queries.js';
import { IdempotencyService } from './idempotency.service.js';

const cleanupIntervalMs = 3_600_000;
/** No client repeats a request for longer than this. */
const retentionDays = 7;

// Global: each module whose requests change data accepts repeats.
@Global()
@Module({ providers: [IdempotencyService], exports: [IdempotencyService] })
export class IdempotencyModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.timers.every('idempotency-records', cleanupIntervalMs, () =>
      deleteRecordsOlderThan(this.database.prisma, retentionDays),
    );
  }
}
