import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database.service.js';
import { Timers } from '../platform/timers.js';
import { forget } from './idempotency-records.queries.js';
import { IdempotencyRecords } from './idempotency-records.service.js';

const forgetEveryMs = 3_600_000;
/** Longer than any client repeats a request. */
const keptForDays = 7;

// Global: every door that changes something may be asked twice.
@Global()
@Module({ providers: [IdempotencyRecords], exports: [IdempotencyRecords] })
export class IdempotencyModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.timers.every('kept-answers', forgetEveryMs, () =>
      forget(this.database.prisma, keptForDays),
    );
  }
}
