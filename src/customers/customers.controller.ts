import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { createCustomer } from '../contract/customers.js';
import type { RouteInput } from '../contract/route.js';
import { Handles, Input, type Reply } from '../platform/contract-route.js';
import { getCustomerRoute } from './customers.schema.js';
import { CustomersService } from './customers.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class CustomersController {
  constructor(private readonly customers: CustomersService) {}

  @RequiresScope('onboard')
  @Handles(createCustomer)
  async create(
    @CalledBy() { accountId }: Caller,
    @Input() input: RouteInput<typeof createCustomer>,
  ): Promise<Reply> {
    return this.customers.create(accountId, input);
  }

  @RequiresScope('onboard')
  @Handles(getCustomerRoute)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof getCustomerRoute>,
  ) {
    return this.customers.get(accountId, params.id);
  }
}
