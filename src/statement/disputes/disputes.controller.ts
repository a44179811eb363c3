import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Handles } from '../../platform/http/contract-route.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { DisputesService, describeDispute } from './disputes.service.js';
import { getDisputeRoute, listDisputesRoute } from './disputes.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class DisputesController {
  constructor(private readonly disputes: DisputesService) {}

  @Handles(listDisputesRoute)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listDisputesRoute>) {
    const page = readPage(query, isUuid);
    const rows = await this.disputes.list(accountId, page);
    return toList(rows, page, ({ id }) => id, describeDispute);
  }

  @Handles(getDisputeRoute)
  get(@FromCaller() { accountId, params }: CallerInput<typeof getDisputeRoute>) {
    return this.disputes.get(accountId, params.id);
  }
}
