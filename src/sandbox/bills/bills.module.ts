import { Module } from '@nestjs/common';
import { SandboxChargesModule } from '../charges/charges.module.js';
import { BillChargebacks } from './bill-chargebacks.service.js';
import { BillControlController } from './bill-control.controller.js';
import { BillControl } from './bill-control.service.js';
import { BillPayments } from './bill-payments.service.js';
import { BillSettlement } from './bill-settlement.service.js';
import { BillsController } from './bills.controller.js';
import { ScheduledBillPayments } from './scheduled-bill-payments.service.js';

@Module({
  imports: [SandboxChargesModule],
  controllers: [BillsController, BillControlController],
  providers: [BillSettlement, BillChargebacks, BillPayments, ScheduledBillPayments, BillControl],
})
export class SandboxBillsModule {}
