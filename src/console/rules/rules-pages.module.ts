import { Module } from '@nestjs/common';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { RuleChanges } from './rule-changes.controller.js';
import { RuleTrialPages } from './rule-trials.controller.js';
import { RulePages } from './rules.controller.js';

/** The account's own rules: their list, the builder, trials and their differences. */
@Module({
  imports: [ConsoleFrameModule, ReconciliationModule],
  controllers: [RuleChanges, RulePages, RuleTrialPages],
})
export class RulesPagesModule {}
