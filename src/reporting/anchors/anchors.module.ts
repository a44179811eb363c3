import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { jobs } from '../../platform/queue/queues.js';
import { AnchorHeadsProcessor } from './anchor-heads.processor.js';
import { AnchorMetrics } from './anchor-metrics.service.js';
import { AnchorSweeper } from './anchor-sweeper.service.js';
import { HeadAnchors } from './head-anchors.service.js';

/** Heads of chains outside the database. */
@Module({
  imports: [BullModule.registerQueue({ name: jobs.anchorHeads.name })],
  providers: [AnchorHeadsProcessor, AnchorMetrics, AnchorSweeper, HeadAnchors],
})
export class AnchorsModule {}
