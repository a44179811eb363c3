import { Module } from '@nestjs/common';
import { SandboxControlModule } from '../control/control.module.js';
import { GenerateController } from './generate.controller.js';
import { LineGenerator } from './generate.service.js';

@Module({
  imports: [SandboxControlModule],
  controllers: [GenerateController],
  providers: [LineGenerator],
})
export class SandboxGenerateModule {}
