import { Global, Module } from '@nestjs/common';
import { IdempotencyService } from './idempotency.service.js';

// Global: each module whose requests change data accepts repeats.
@Global()
@Module({ providers: [IdempotencyService], exports: [IdempotencyService] })
export class IdempotencyModule {}
