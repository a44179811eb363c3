import { Module } from '@nestjs/common';
import { OperatorsModule } from '../../access/people/operators.module.js';
import { TransfersModule } from '../../outbound/transfers/transfers.module.js';
import { ExportsModule } from '../../reporting/exports/exports.module.js';
import { ConsoleAssets } from '../assets.service.js';
import { ActorNames } from '../actor-names.service.js';
import { MoneyFacts } from '../money-facts.service.js';
import { ActionAudit } from '../action-audit.service.js';
import { ListAnswers } from './lists.service.js';
import { PageRenderer } from './page-renderer.service.js';

/** What each page of the console needs: its guard, its frame, and the audit of its actions. */
@Module({
  imports: [ExportsModule, OperatorsModule, TransfersModule],
  providers: [ConsoleAssets, ListAnswers, PageRenderer, ActionAudit, ActorNames, MoneyFacts],
  exports: [
    ...[OperatorsModule, ConsoleAssets, ListAnswers, PageRenderer],
    ...[ActionAudit, ActorNames, MoneyFacts],
  ],
})
export class ConsoleFrameModule {}
