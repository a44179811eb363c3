// Registers the service's webhooks at the bank. It compares them with the registrations at the bank
// and changes only differences.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import type { BankResponse } from '../bank/response-classification.js';
import { BankService } from '../bank/bank.service.js';
import {
  createWebhookRegistration,
  listWebhookRegistrations,
  updateWebhookRegistration,
} from '../contract/webhook-registrations.js';
import { Addresses } from '../platform/http.js';
import { AppError } from '../platform/errors.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import type { JobPayload } from '../queues.js';
import { planRegistrations } from './registration.js';

@Injectable()
export class WebhookRegistrar {
  constructor(
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly addresses: Addresses,
    private readonly jobQueue: JobQueue,
    private readonly log: Log,
  ) {}

  /** Throws if the bank does not accept a change, so that the job is retried. */
  @OnJob('registerWebhooks')
  async register({ accountId }: JobPayload<'registerWebhooks'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    const listed = await this.bank.call(listWebhookRegistrations, account, {});
    const plan = planRegistrations(
      {
        publicUrl: this.addresses.publicUrl,
        slug: account.slug,
        secret: await this.accounts.getWebhookSecret(account),
        allowsLoopback: this.bank.profile.allowsLoopback,
      },
      valueOf(listed),
    );
    // All changes are requested before any failure throws: an event type that the bank rejects must
    // not prevent the registration of the others.
    const responses: BankResponse<unknown>[] = [];
    for (const body of plan.create)
      responses.push(await this.bank.call(createWebhookRegistration, account, { body }));
    for (const { id, wanted: body } of plan.update)
      responses.push(
        await this.bank.call(updateWebhookRegistration, account, { params: { id }, body }),
      );
    if (plan.foreign.length > 0)
      this.log.warn(
        { account: account.slug, eventTypes: plan.foreign },
        'webhook event types registered at a foreign address',
      );
    for (const response of responses) valueOf(response);
  }

  @Every('webhook-registrations', 300_000)
  async enqueueAll(): Promise<void> {
    for (const { id } of await this.accounts.list())
      await this.jobQueue.enqueue('registerWebhooks', { accountId: id });
  }

  /** Registers when the service starts. If the bank is unavailable, a timer retries later. */
  async registerAll(): Promise<void> {
    for (const { id, slug } of await this.accounts.list()) {
      try {
        await this.register({ accountId: id });
      } catch (error) {
        this.log.warn({ err: error, account: slug }, 'webhook registration failed');
      }
    }
  }
}

function valueOf<Value>(response: BankResponse<Value>): Value {
  if (response.outcome === 'success') return response.value;
  const reason = response.outcome === 'unknown' ? response.reason : `status ${response.status}`;
  throw new AppError('bank_refused', { internal: `webhook registration: ${reason}` });
}
