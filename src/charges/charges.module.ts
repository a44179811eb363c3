import { Module } from '@nestjs/common';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../statement/statement.module.js';
import { ChargesController } from './charges.controller.js';
import { ChargesService } from './charges.service.js';

@Module({
  imports: [OperationsModule, StatementModule],
  controllers: [ChargesController],
  providers: [ChargesService],
})
export class ChargesModule {}
