import { Controller } from '@nestjs/common';
import {
  createWebhookRegistration,
  deleteWebhookRegistration,
  getWebhookRegistration,
  listWebhookRegistrations,
  updateWebhookRegistration,
} from '../../bank-contract/webhook-registrations.js';
import { Handles } from '../../platform/http/contract-route.js';
import { AccountInput, type AccountRequest } from '../accounts/api-key.guard.js';
import { Registrations } from './registrations.service.js';
import { resendWebhooks } from './webhooks-control.schema.js';

@Controller()
export class RegistrationsController {
  constructor(private readonly registrations: Registrations) {}

  @Handles(createWebhookRegistration)
  create(@AccountInput() { account, body }: AccountRequest<typeof createWebhookRegistration>) {
    return this.registrations.create(account, body);
  }

  @Handles(listWebhookRegistrations)
  list(@AccountInput() { account }: AccountRequest<typeof listWebhookRegistrations>) {
    return this.registrations.list(account);
  }

  @Handles(getWebhookRegistration)
  get(@AccountInput() { account, params }: AccountRequest<typeof getWebhookRegistration>) {
    return this.registrations.get(account, params.id);
  }

  @Handles(updateWebhookRegistration)
  update(
    @AccountInput() { account, params, body }: AccountRequest<typeof updateWebhookRegistration>,
  ) {
    return this.registrations.update(account, params.id, body);
  }

  @Handles(deleteWebhookRegistration)
  async remove(
    @AccountInput() { account, params }: AccountRequest<typeof deleteWebhookRegistration>,
  ) {
    await this.registrations.remove(account, params.id);
    return {};
  }

  @Handles(resendWebhooks)
  resend(@AccountInput() { account, body }: AccountRequest<typeof resendWebhooks>) {
    return this.registrations.resend(account, body);
  }
}
