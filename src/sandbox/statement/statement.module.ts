import { Module } from '@nestjs/common';
import { SandboxPixModule } from '../pix/pix.module.js';
import { SandboxStatementController } from './statement.controller.js';
import { Statement } from './statement.service.js';

@Module({
  imports: [SandboxPixModule],
  controllers: [SandboxStatementController],
  providers: [Statement],
  exports: [Statement],
})
export class SandboxStatementModule {}
