// The `/v1/operations` endpoints: read-only, each limited to the caller's account.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { metadataTooCommon } from '../../statement/expected-payments/metadata.queries.js';
import { Handles } from '../../platform/http/contract-route.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import { isUuid, readPage, readUuid } from '../../platform/http/listing.js';
import { OperationDetails } from './operation-details.service.js';
import { OperationLists } from './operation-lists.service.js';
import { getOperation, listOperations } from './operations.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class OperationsController {
  constructor(
    private readonly details: OperationDetails,
    private readonly lists: OperationLists,
  ) {}

  @Responds(metadataTooCommon)
  @Handles(listOperations)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listOperations>) {
    return this.lists.list(accountId, readPage(query, isUuid), query);
  }

  @Handles(getOperation)
  async get(@FromCaller() request: CallerInput<typeof getOperation>) {
    return this.details.get(request, readUuid(request.params.id));
  }
}
