import { Module } from '@nestjs/common';
import { DueWork } from './due-work.service.js';

@Module({
  providers: [DueWork],
  exports: [DueWork],
})
export class SandboxDueWorkModule {}
