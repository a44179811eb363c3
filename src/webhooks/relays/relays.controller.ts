// Serves the bank's registration routes to clients that moved from the bank. What they register
// here is relayed by the service; the registrations at the bank are the service's own.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import {
  createWebhookRegistration,
  deleteWebhookRegistration,
  getWebhookRegistration,
  listWebhookRegistrations,
  updateWebhookRegistration,
} from '../../bank-contract/webhook-registrations.js';
import { Handles } from '../../platform/http/contract-route.js';
import { Relays } from './relays.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RelaysController {
  constructor(private readonly relays: Relays) {}

  @RequiresScope('webhooks')
  @Handles(createWebhookRegistration)
  async create(@FromCaller() { accountId, body }: CallerInput<typeof createWebhookRegistration>) {
    return this.relays.create(accountId, body);
  }

  @RequiresScope('webhooks')
  @Handles(listWebhookRegistrations)
  async list(@FromCaller() { accountId }: CallerInput<typeof listWebhookRegistrations>) {
    return this.relays.list(accountId);
  }

  @RequiresScope('webhooks')
  @Handles(getWebhookRegistration)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getWebhookRegistration>) {
    return this.relays.get(accountId, params.id);
  }

  @RequiresScope('webhooks')
  @Handles(updateWebhookRegistration)
  async update(
    @FromCaller() { accountId, params, body }: CallerInput<typeof updateWebhookRegistration>,
  ) {
    return this.relays.update(accountId, params.id, body);
  }

  @RequiresScope('webhooks')
  @Handles(deleteWebhookRegistration)
  async remove(@FromCaller() { accountId, params }: CallerInput<typeof deleteWebhookRegistration>) {
    await this.relays.remove(accountId, params.id);
    return {};
  }
}
