import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { CustomerReports } from './customer-reports.service.js';
import { CustomersController } from './customers.controller.js';
import { CustomersService } from './customers.service.js';

@Module({
  imports: [EventsModule, OperationsModule],
  controllers: [CustomersController],
  providers: [CustomersService, CustomerReports],
  exports: [CustomerReports],
})
export class CustomersModule {}
