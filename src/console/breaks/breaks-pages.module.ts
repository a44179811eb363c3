import { Module } from '@nestjs/common';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { DisputeEvidenceModule } from '../../reporting/dispute-evidence/dispute-evidence.module.js';
import { DisputesModule } from '../../statement/disputes/disputes.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { Assignees } from './assignees.service.js';
import { BatchPages } from './batches.controller.js';
import { BreakConfirmation } from './break-confirmation.service.js';
import { BreakDetailPages } from './break-detail.controller.js';
import { BreakQueue } from './break-queue.service.js';
import { BreakPage } from './break-page.service.js';
import { BreakPages } from './breaks.controller.js';
import { BreakPlanPages } from './break-plans.controller.js';
import { BulkBreakPages } from './bulk-breaks.controller.js';
import { DisputePages } from './disputes.controller.js';
import { DecisionFilePages } from './decision-files.controller.js';
import { LinkPicking } from './link-picking.service.js';

/** Breaks: their list, each of them with what it is compared with, and actions on many. */
@Module({
  imports: [ConsoleFrameModule, BreaksModule, DisputesModule, DisputeEvidenceModule],
  controllers: [
    BreakPages,
    BulkBreakPages,
    BreakPlanPages,
    BatchPages,
    DecisionFilePages,
    BreakDetailPages,
    DisputePages,
  ],
  providers: [Assignees, BreakConfirmation, BreakPage, BreakQueue, LinkPicking],
})
export class BreaksPagesModule {}
