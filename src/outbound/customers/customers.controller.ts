import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { createCustomer } from '../../bank-contract/customers.js';
import { refusingMetadata } from '../../statement/expected-payments/metadata.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { Handles, type Reply } from '../../platform/http/contract-route.js';
import { getCustomerRoute } from './customers.schema.js';
import { CustomersService } from './customers.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class CustomersController {
  constructor(private readonly customers: CustomersService) {}

  @RequiresScope('onboard')
  @BeginsOperation()
  @Handles(createCustomer, refusingMetadata(createCustomer))
  async create(@FromCaller() request: CallerInput<typeof createCustomer>): Promise<Reply> {
    return this.customers.create(request.accountId, request);
  }

  @RequiresScope('onboard')
  @Handles(getCustomerRoute)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getCustomerRoute>) {
    return this.customers.get(accountId, params.id);
  }
}
