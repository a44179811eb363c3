import { Global, Module } from '@nestjs/common';
import { ModesController } from './modes.controller.js';
import { Modes } from './modes.service.js';

// Global: nearly every folder follows a mode of the bank.
@Global()
@Module({
  controllers: [ModesController],
  providers: [Modes],
  exports: [Modes],
})
export class SandboxModesModule {}
