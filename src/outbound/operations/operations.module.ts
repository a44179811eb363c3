import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { AdvanceOperationProcessor } from './advance-operation.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { PaymentControlsModule } from '../payment-controls/payment-controls.module.js';
import { AccountModesController } from './account-modes.controller.js';
import { AccountModes } from './account-modes.service.js';
import { ApprovalChecks } from './approval-checks.service.js';
import { ApprovalPolicies } from './approval-policies.service.js';
import { ApprovalRequirements } from './approval-requirements.service.js';
import { ApprovalsController } from './approvals.controller.js';
import { Approvals } from './approvals.service.js';
import { BodyRetention } from './body-retention.service.js';
import { OperationDetails } from './operation-details.service.js';
import { OperationLists } from './operation-lists.service.js';
import { OperationRecovery } from './operation-recovery.service.js';
import { OperationResending } from './operation-resending.service.js';
import { OperationMetrics } from './operation-metrics.service.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationStorage } from './operation-storage.service.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';
import { PossibleDuplicates } from './possible-duplicates.service.js';
import { RestoreGuard } from './restores.service.js';
import { SecondServices } from './second-services.service.js';

@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.advanceOperation.name },
      { name: jobs.reconcile.name },
      { name: jobs.registerWebhooks.name },
      { name: jobs.closeStatement.name },
    ),
    EventsModule,
    PaymentControlsModule,
  ],
  controllers: [OperationsController, ApprovalsController, AccountModesController],
  providers: [
    AdvanceOperationProcessor,
    OperationsService,
    OperationOutcomes,
    OperationSender,
    OperationStorage,
    OperationRecovery,
    OperationResending,
    PossibleDuplicates,
    AccountModes,
    RestoreGuard,
    SecondServices,
    BodyRetention,
    OperationMetrics,
    OperationDetails,
    OperationLists,
    ApprovalPolicies,
    ApprovalRequirements,
    ApprovalChecks,
    Approvals,
  ],
  exports: [
    AccountModes,
    ApprovalPolicies,
    Approvals,
    OperationDetails,
    OperationLists,
    OperationOutcomes,
    OperationResending,
    OperationsService,
    RestoreGuard,
    SecondServices,
  ],
})
export class OperationsModule {}
