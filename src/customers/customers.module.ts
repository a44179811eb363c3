import { Module } from '@nestjs/common';
import { OperationsModule } from '../operations/operations.module.js';
import { CustomersController } from './customers.controller.js';
import { CustomersService } from './customers.service.js';

@Module({
  imports: [OperationsModule],
  controllers: [CustomersController],
  providers: [CustomersService],
})
export class CustomersModule {}
