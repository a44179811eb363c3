// Owns the webhook registrations: one URL for each event type of an account. Sends what was sent to
// them again.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import type {
  createWebhookRegistration,
  updateWebhookRegistration,
  WebhookRegistration,
} from '../../bank-contract/webhook-registrations.js';
import type { WebhookRegistration as RegistrationRow } from '../../generated/sandbox/client.js';
import { AppError, conflict, refuseInvalid } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { registrationNumber } from '../presets/published-answers.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import {
  authorizationHeaders,
  type AuthorizationScheme,
} from '../../bank-contract/webhook-authorization.js';
import { insertCopiesSince, listRegistrations } from './deliveries.queries.js';
import { isWebhookEventType } from './event-types.js';
import { WebhookSender } from './webhook-sender.service.js';
import type { resendWebhooks } from './webhooks-control.schema.js';

type RegistrationFields = RouteInput<typeof createWebhookRegistration>['body'];

@Injectable()
export class Registrations {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly accounts: Accounts,
    private readonly sender: WebhookSender,
  ) {}

  async create(account: SandboxAccount, fields: RegistrationFields): Promise<WebhookRegistration> {
    const now = this.clock.now();
    const ids = { id: this.random.uuid(), accountId: account.id };
    const row = { ...ids, ...validated(fields), createdAt: now, updatedAt: now };
    const isNew = await this.database.insert('webhook_registration', row, 'ON CONFLICT DO NOTHING');
    if (!isNew) throw eventTypeRegistered();
    return toRegistration(row);
  }

  async resend(
    caller: SandboxAccount,
    { account: number, hours }: RouteInput<typeof resendWebhooks>['body'],
  ): Promise<{ count: number }> {
    const { id: accountId } = await this.accounts.getNamed(number, caller);
    const now = this.clock.now();
    const since = new Date(now.getTime() - hours * 3_600_000);
    return this.database.transaction(async (tx) => {
      tx.afterCommit(() => this.sender.trigger());
      return { count: await insertCopiesSince(tx, { accountId, since, now }) };
    });
  }

  async list(account: SandboxAccount): Promise<WebhookRegistration[]> {
    const rows = await listRegistrations(this.database, account.id);
    return rows.map(toRegistration);
  }

  async get(account: SandboxAccount, id: string): Promise<WebhookRegistration> {
    return toRegistration(await this.getRow(account, id));
  }

  /** Changes the given fields. Pending deliveries use the new values. */
  async update(
    account: SandboxAccount,
    id: string,
    changes: RouteInput<typeof updateWebhookRegistration>['body'],
  ): Promise<WebhookRegistration> {
    const row = await this.getRow(account, id);
    const changed = validated({
      eventType: changes.eventType ?? row.eventType,
      url: changes.url ?? row.url,
      authorizationScheme:
        changes.authorizationScheme ?? (row.authorizationScheme as AuthorizationScheme),
      authorization:
        changes.authorization === undefined ? row.authorization : changes.authorization,
    });
    const key = { id: row.id };
    const fields = { ...changed, updatedAt: this.clock.now() };
    try {
      await this.database.update<RegistrationRow>('webhook_registration', key, fields);
    } catch (cause) {
      throw (cause as { code?: unknown }).code === '23505' ? eventTypeRegistered(cause) : cause;
    }
    // It may have been removed meanwhile.
    return this.get(account, row.id);
  }

  async remove(account: SandboxAccount, id: string): Promise<void> {
    const row = await this.getRow(account, id);
    // Of two concurrent removals the second deletes nothing, which is not an error.
    await this.database.remove<RegistrationRow>('webhook_registration', { id: row.id });
  }

  private async getRow(account: SandboxAccount, id: string): Promise<RegistrationRow> {
    const rows = await listRegistrations(this.database, account.id);
    const isNamed = (one: { id: string }) =>
      one.id === id.toLowerCase() || `${registrationNumber(one.id)}` === id;
    const row = rows.find(isNamed);
    if (!row) throw new AppError('not_found');
    return row;
  }
}

function eventTypeRegistered(cause?: unknown): AppError {
  return conflict(
    'event_type_registered',
    'The account already has a registration for this event type.',
    cause,
  );
}

function validated(fields: RegistrationFields) {
  const { eventType, url, authorizationScheme, authorization = null } = fields;
  const errors: Record<string, string[]> = {};
  if (!isWebhookEventType(eventType))
    errors['$.eventType'] = ['Must be an event type of the bank.'];
  if (!authorizationHeaders(authorizationScheme, authorization))
    errors['$.authorization'] = [
      'Must fit authorizationScheme: "name: value" for HEADER, a token for BEARER and BASIC.',
    ];
  refuseInvalid(errors);
  return { eventType, url, authorizationScheme, authorization };
}

function toRegistration(row: RegistrationRow): WebhookRegistration {
  const { accountId: _, createdAt, updatedAt, ...fields } = row;
  return { ...fields, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
