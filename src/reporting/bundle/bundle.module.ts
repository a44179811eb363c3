// The bundle of a month for the accountant.
import { Module } from '@nestjs/common';
import { OperatorsModule } from '../../access/people/operators.module.js';
import { ExportsModule } from '../exports/exports.module.js';
import { JournalModule } from '../journal/journal.module.js';
import { ProofsModule } from '../proofs/proofs.module.js';
import { BreakStories } from './break-stories.service.js';
import { BundleController } from './bundle.controller.js';
import { BundleFiles } from './bundle-files.service.js';
import { MonthBundles } from './month-bundles.service.js';

@Module({
  imports: [ExportsModule, JournalModule, OperatorsModule, ProofsModule],
  controllers: [BundleController],
  providers: [BreakStories, BundleFiles, MonthBundles],
  exports: [MonthBundles],
})
export class BundleModule {}
