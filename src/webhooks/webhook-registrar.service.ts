// Registers the service's webhooks at the bank by itself, converging: what is right stays as it is.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import type { BankAnswer } from '../bank/answer.js';
import { BankService } from '../bank/bank.service.js';
import {
  createWebhookRegistration,
  listWebhookRegistrations,
  updateWebhookRegistration,
} from '../contract/webhook-registrations.js';
import { Addresses } from '../platform/addresses.js';
import { AppError } from '../platform/errors.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { JobQueue } from '../platform/job-queue.js';
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

  /** Throws when the bank does not do as asked: it is asked again. */
  @OnJob('registerWebhooks')
  async register({ accountId }: JobPayload<'registerWebhooks'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    const listed = await this.bank.call(listWebhookRegistrations, account, {});
    const plan = planRegistrations(
      {
        publicUrl: this.addresses.publicUrl,
        slug: account.slug,
        secret: await this.accounts.webhookSecret(account),
        isOnLoopback: this.bank.profile.isOnLoopback,
      },
      valueOf(listed),
    );
    // A kind that the bank does not know must not keep the others from being registered.
    const answers: BankAnswer<unknown>[] = [];
    for (const body of plan.create)
      answers.push(await this.bank.call(createWebhookRegistration, account, { body }));
    for (const { id, wanted: body } of plan.update)
      answers.push(
        await this.bank.call(updateWebhookRegistration, account, { params: { id }, body }),
      );
    if (plan.foreign.length > 0)
      this.log.warn(
        { account: account.slug, eventTypes: plan.foreign },
        'webhooks of these kinds go to an address that is not ours; left as they are',
      );
    for (const answer of answers) valueOf(answer);
  }

  async enqueueAll(): Promise<void> {
    for (const { id } of await this.accounts.list())
      await this.jobQueue.enqueue('registerWebhooks', { accountId: id });
  }

  /** Registers at once, when the service starts; a bank that is away is asked again later. */
  async registerAll(): Promise<void> {
    for (const { id, slug } of await this.accounts.list()) {
      try {
        await this.register({ accountId: id });
      } catch (error) {
        this.log.warn({ err: error, account: slug }, 'webhooks not registered yet; tried again');
      }
    }
  }
}

function valueOf<Value>(answer: BankAnswer<Value>): Value {
  if (answer.outcome === 'success') return answer.value;
  throw new AppError('bank_refused', {
    internal: `webhook registration: ${answer.outcome === 'unknown' ? answer.reason : `status ${answer.status}`}`,
  });
}
