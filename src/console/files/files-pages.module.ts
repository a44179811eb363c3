import { Module } from '@nestjs/common';
import { BulkModule } from '../../outbound/bulk/bulk.module.js';
import { BundleModule } from '../../reporting/bundle/bundle.module.js';
import { ExportsModule } from '../../reporting/exports/exports.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { BulkPages } from './bulk.controller.js';
import { ExportPages } from './exports.controller.js';
import { ImportsPage } from './imports.controller.js';

/** Uploads, export files, and the reading of the statement. */
@Module({
  imports: [BundleModule, ConsoleFrameModule, BulkModule, ExportsModule, StatementModule],
  controllers: [BulkPages, ExportPages, ImportsPage],
})
export class FilesPagesModule {}
