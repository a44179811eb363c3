import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import {
  createWebhookRegistration,
  deleteWebhookRegistration,
  getWebhookRegistration,
  listWebhookRegistrations,
  updateWebhookRegistration,
} from '../../contract/webhook-registrations.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { CurrentAccount } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { Registrations, type RegistrationFields } from './registrations.service.js';

@Controller()
export class RegistrationsController {
  constructor(private readonly registrations: Registrations) {}

  @Handles(createWebhookRegistration)
  create(
    @CurrentAccount() account: SandboxAccount,
    @Input() { body }: RouteInput<typeof createWebhookRegistration>,
  ) {
    return this.registrations.create(account, body);
  }

  @Handles(listWebhookRegistrations)
  list(@CurrentAccount() account: SandboxAccount) {
    return this.registrations.list(account);
  }

  @Handles(getWebhookRegistration)
  get(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof getWebhookRegistration>,
  ) {
    return this.registrations.get(account, params.id);
  }

  @Handles(updateWebhookRegistration)
  update(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params, body }: RouteInput<typeof updateWebhookRegistration>,
  ) {
    return this.registrations.update(account, params.id, body as Partial<RegistrationFields>);
  }

  @Handles(deleteWebhookRegistration)
  async remove(
    @CurrentAccount() account: SandboxAccount,
    @Input() { params }: RouteInput<typeof deleteWebhookRegistration>,
  ) {
    await this.registrations.remove(account, params.id);
    return {};
  }
}
