import { Module } from '@nestjs/common';
import { Idempotency } from './idempotency.service.js';

@Module({
  providers: [Idempotency],
  exports: [Idempotency],
})
export class SandboxIdempotencyModule {}
