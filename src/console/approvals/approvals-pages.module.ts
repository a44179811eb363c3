import { Module } from '@nestjs/common';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { PaymentControlsModule } from '../../outbound/payment-controls/payment-controls.module.js';
import { TransfersModule } from '../../outbound/transfers/transfers.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { AlertsModule } from '../../reporting/alerts/alerts.module.js';
import { AlarmStopPages } from './alarm-stop.controller.js';
import { ApprovalFactsReader } from './approval-facts.service.js';
import { ApprovalPolicyPages } from './approval-policy.controller.js';
import { ApprovalPages } from './approvals.controller.js';
import { PaymentControlPages } from './payment-control.controller.js';
import { PersonDecisions } from './person-decisions.service.js';
import { WaitingApprovals } from './waiting-approvals.service.js';

/** Decisions about payments that wait, the approval policy, and the payment controls. */
@Module({
  imports: [
    AlertsModule,
    ConsoleFrameModule,
    OperationsModule,
    PaymentControlsModule,
    TransfersModule,
  ],
  providers: [WaitingApprovals, ApprovalFactsReader, PersonDecisions],
  controllers: [AlarmStopPages, ApprovalPages, ApprovalPolicyPages, PaymentControlPages],
})
export class ApprovalsPagesModule {}
