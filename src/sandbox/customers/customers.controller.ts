// The onboarding API. The partner key authenticates it, so a request has no current account. It
// takes no IdempotencyKey: a repeat is refused because its document already has a customer.
import { Controller } from '@nestjs/common';
import { createCustomer } from '../../bank-contract/customers.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { decideCustomerRoute } from './customers-control.schema.js';
import { Customers } from './customers.service.js';

@Controller()
export class SandboxCustomersController {
  constructor(private readonly customers: Customers) {}

  @Handles(createCustomer)
  create(@Input() { body }: RouteInput<typeof createCustomer>) {
    return this.customers.create(body);
  }

  @Handles(decideCustomerRoute)
  decide(@Input() { params, body }: RouteInput<typeof decideCustomerRoute>) {
    const { decision, reason } = body;
    const status = decision === 'approve' ? 'APPROVED' : 'REJECTED';
    return this.customers.decide(params.id, { status, reason: reason ?? null });
  }
}
