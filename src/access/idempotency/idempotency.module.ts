import { Global, Module } from '@nestjs/common';
import { IdempotencyRetention } from './idempotency-retention.service.js';
import { IdempotencyService } from './idempotency.service.js';

// Global: each module whose requests change data accepts repeats.
@Global()
@Module({ providers: [IdempotencyService, IdempotencyRetention], exports: [IdempotencyService] })
export class IdempotencyModule {}
