import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Handles } from '../../platform/http/contract-route.js';
import { getDisputeEvidence } from './dispute-evidence.schema.js';
import { DisputeEvidence } from './dispute-evidence.service.js';

/** What a company answers a dispute with. */
@Controller()
@UseGuards(ApiKeyGuard)
export class DisputeEvidenceController {
  constructor(private readonly evidence: DisputeEvidence) {}

  @Handles(getDisputeEvidence)
  get(@FromCaller() { params, ...caller }: CallerInput<typeof getDisputeEvidence>) {
    return this.evidence.get(caller, params.id);
  }
}
