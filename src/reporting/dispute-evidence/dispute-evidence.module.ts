// What a company answers a dispute with. The disputes themselves are of the module statement.
import { Module } from '@nestjs/common';
import { ChargesModule } from '../../outbound/charges/charges.module.js';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module.js';
import { DisputesModule } from '../../statement/disputes/disputes.module.js';
import { DisputeEvidenceController } from './dispute-evidence.controller.js';
import { DisputeEvidence } from './dispute-evidence.service.js';

@Module({
  imports: [ChargesModule, DisputesModule, ReconciliationModule],
  controllers: [DisputeEvidenceController],
  providers: [DisputeEvidence],
  exports: [DisputeEvidence],
})
export class DisputeEvidenceModule {}
