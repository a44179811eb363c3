// Registers the service's webhooks at the bank. It compares them with the registrations at the bank
// and changes only differences.
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { isAllowedIn } from '../../access/accounts/account-mode.js';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import type { BankResponse } from '../../bank/response-classification.js';
import { BankService } from '../../bank/bank.service.js';
import {
  createWebhookRegistration,
  listWebhookRegistrations,
  updateWebhookRegistration,
  type WebhookRegistration,
} from '../../bank-contract/webhook-registrations.js';
import { Database } from '../../platform/postgres/database.service.js';
import { SecondServices } from '../../outbound/operations/second-services.service.js';
import { Addresses } from '../../platform/http/http.js';
import { AppError } from '../../platform/errors.js';
import { Log } from '../../platform/log.js';
import { Every } from '../../platform/queue/timers.js';
import type { JobPayload } from '../../platform/queue/queues.js';
import {
  addressesElsewhere,
  addressesOfOthers,
  describeRegistrations,
  planRegistrations,
  type RegisteredEventType,
  type WebhookAddress,
} from './registration.js';

/** An account whose bank does not answer holds up one of these, and the others continue. */
const concurrentAccounts = 8;

/** The timer of the registrations, whose first run a start waits for. */
export const webhookRegistrations = 'webhook-registrations';

@Injectable()
export class WebhookRegistrar implements OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly addresses: Addresses,
    private readonly log: Log,
    private readonly secondServices: SecondServices,
  ) {}

  /**
   * Throws if the bank does not accept a change, so that the job is retried. Does nothing while the
   * account is stopped, and where the operator leaves the registrations to another system.
   */
  async register({ accountId }: JobPayload<'registerWebhooks'>): Promise<void> {
    const account = await this.accounts.get(accountId);
    if (!isAllowedIn(await this.accounts.getSendingRules(accountId), createWebhookRegistration)) {
      await this.database.prisma.webhookRegistrationOutcome.deleteMany({ where: { accountId } });
      return;
    }
    const listed = await this.bank.call(listWebhookRegistrations, account, {});
    await this.recordListing(account, listed.outcome);
    if (listed.outcome !== 'success') return this.recordAndThrow(accountId, failureOf(listed), []);
    const [address, existing] = [await this.addressOf(account), readable(listed.value)];
    if (await this.stopsFor(account, address, existing)) return;
    const plan = planRegistrations(address, existing);
    const changes = [
      ...plan.create.map((body) => ({
        eventType: body.eventType,
        make: () => this.bank.call(createWebhookRegistration, account, { body }),
      })),
      ...plan.update.map(({ id, wanted: body }) => ({
        eventType: body.eventType,
        make: () => this.bank.call(updateWebhookRegistration, account, { params: { id }, body }),
      })),
    ];
    // An event type that the bank rejects must not prevent the registration of the others: failures
    // throw at the end. A bank that does not answer one change gets no other.
    const responses: BankResponse<unknown>[] = [];
    for (const change of changes) {
      if (this.isStopping || responses.some(isUnanswered)) break;
      responses.push(await change.make());
    }
    if (plan.foreign.length > 0)
      this.log.warn(
        { account: account.slug, eventTypes: plan.foreign },
        'webhook event types registered at a foreign address',
      );
    // The published lists of event types conflict, so a bank refuses some of them.
    const refused = responses.flatMap((response, index) =>
      response.outcome === 'rejection' ? [changes[index]!.eventType] : [],
    );
    if (refused.length > 0)
      this.log.warn(
        { account: account.slug, eventTypes: refused },
        'webhook event types refused by the bank',
      );
    const [failed] = responses.filter((response) => response.outcome === 'unknown');
    await this.recordAndThrow(accountId, failed ? failureOf(failed) : null, refused);
  }

  /** What came of it is shown to operators until the next registration. */
  private async recordAndThrow(
    accountId: number,
    failure: string | null,
    refusedEventTypes: string[],
  ): Promise<void> {
    const outcome = { failure, refusedEventTypes };
    await this.database.prisma.webhookRegistrationOutcome.upsert({
      where: { accountId },
      create: { accountId, ...outcome },
      update: outcome,
    });
    if (failure !== null)
      throw new AppError('bank_refused', { internal: `webhook registration: ${failure}` });
  }

  /** Whether the bank shows registrations: without them, a second service may stay unseen. */
  private async recordListing(
    { id, slug }: BankAccount,
    outcome: BankResponse<unknown>['outcome'],
  ): Promise<void> {
    if (outcome === 'unknown') return;
    const listsRegistrations = outcome === 'success';
    const stored = await this.accounts.getBySlug(slug);
    if (stored.listsRegistrations !== listsRegistrations)
      await this.accounts.recordRegistrations(id, { listsRegistrations });
  }

  /** Stops the account when another service has our registrations. Each address counts once. */
  private async stopsFor(
    { id, slug }: BankAccount,
    address: WebhookAddress,
    existing: readonly WebhookRegistration[],
  ): Promise<boolean> {
    const { mode, webhookAddresses } = await this.accounts.getBySlug(slug);
    if (mode !== 'live') return false;
    const { publicUrl } = address;
    const elsewhere = addressesElsewhere(address, existing);
    const others = new Set(addressesOfOthers(publicUrl, webhookAddresses, elsewhere));
    for (const { url } of elsewhere.filter((one) => address.allowsLoopback && one.isLoopback))
      if (await this.secondServices.isAnotherAt(url)) others.add(url);
    const seen = elsewhere.filter(({ hasSecret }) => hasSecret).map(({ url }) => url);
    const known = [...new Set([...webhookAddresses, publicUrl, ...seen])];
    if (known.length > webhookAddresses.length)
      await this.accounts.recordRegistrations(id, { webhookAddresses: known });
    if (others.size === 0) return false;
    await this.secondServices.stop(slug, `webhooks are registered at ${[...others].join(', ')}`);
    return true;
  }

  /** How each event type is registered. Throws if the bank does not answer. */
  async list(accountId: number): Promise<RegisteredEventType[]> {
    const account = await this.accounts.get(accountId);
    const listed = await this.bank.call(listWebhookRegistrations, account, {});
    if (listed.outcome !== 'success')
      throw new AppError('bank_refused', {
        internal: `webhook registrations: ${failureOf(listed)}`,
      });
    return describeRegistrations(await this.addressOf(account), readable(listed.value));
  }

  /** A failed account is tried again in the next pass. */
  @Every(webhookRegistrations, 300)
  async registerAll(): Promise<void> {
    const waiting = await this.accounts.list();
    const registerInTurn = async () => {
      for (let account = waiting.shift(); account && !this.isStopping; account = waiting.shift())
        await this.registerOrWarn(account);
    };
    await Promise.all(Array.from({ length: concurrentAccounts }, registerInTurn));
  }

  /** The timer's pass and the jobs end with the call that is in progress. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  private async addressOf(account: BankAccount): Promise<WebhookAddress> {
    return {
      publicUrl: this.addresses.publicUrl,
      slug: account.slug,
      secret: await this.accounts.getWebhookSecret(account),
      allowsLoopback: this.bank.profile.allowsLoopback,
    };
  }

  private async registerOrWarn({ id, slug }: BankAccount): Promise<void> {
    try {
      await this.register({ accountId: id });
    } catch (error) {
      this.log.warn({ err: error, account: slug }, 'webhook registration failed');
    }
  }
}

const isUnanswered = (response: BankResponse<unknown>): boolean =>
  response.outcome === 'unknown' && response.status === null;

/** Those that can be read. */
const readable = <One>(listed: readonly (One | null | undefined)[]): One[] =>
  listed.filter((one) => one != null);

function failureOf(response: Exclude<BankResponse<unknown>, { outcome: 'success' }>): string {
  return response.outcome === 'unknown' ? response.reason : `status ${response.status}`;
}
