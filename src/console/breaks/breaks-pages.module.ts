import { Module } from '@nestjs/common';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { BreakConfirmation } from './break-confirmation.service.js';
import { BreakDetailPages } from './break-detail.controller.js';
import { BreakPage } from './break-page.service.js';
import { BreakPages } from './breaks.controller.js';
import { BulkBreakPages } from './bulk-breaks.controller.js';

/** Breaks: their list, each of them with what it is compared with, and actions on many. */
@Module({
  imports: [ConsoleFrameModule, BreaksModule],
  controllers: [BreakPages, BulkBreakPages, BreakDetailPages],
  providers: [BreakConfirmation, BreakPage],
})
export class BreaksPagesModule {}
