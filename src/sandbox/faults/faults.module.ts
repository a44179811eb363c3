import { Global, Module } from '@nestjs/common';
import { FaultsController } from './faults.controller.js';
import { Faults } from './faults.service.js';

// Global: a fault may occur at any request, line, webhook or refund.
@Global()
@Module({
  controllers: [FaultsController],
  providers: [Faults],
  exports: [Faults],
})
export class SandboxFaultsModule {}
