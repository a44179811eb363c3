import { Module } from '@nestjs/common';
import { SandboxStatementController } from './statement.controller.js';
import { Statement } from './statement.service.js';

@Module({
  controllers: [SandboxStatementController],
  providers: [Statement],
  exports: [Statement],
})
export class SandboxStatementModule {}
