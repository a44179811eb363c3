// Owns the registrations of relayed webhooks: a client of the bank registers at the service as it
// did at the bank, and gets the bank's webhooks as the bank sent them.
import { Injectable } from '@nestjs/common';
import {
  authorizationHeaders,
  type AuthorizationScheme,
} from '../../bank-contract/webhook-authorization.js';
import type { WebhookRegistration } from '../../bank-contract/webhook-registrations.js';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import { EndpointClient } from '../../events/endpoint-client.service.js';
import type { RelayRegistration } from '../../generated/service/client.js';
import { AppError, conflict, refuseInvalid } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { readUuid } from '../../platform/http/listing.js';
import { SecretBox } from '../../platform/secret-box.js';
import { ownerOfRelaySecret } from './relay-secrets.queries.js';
import { deleteSomeRelays, lockRelay } from './relays.queries.js';
import { registeredEventTypes } from '../processing/webhook-body.js';

interface RelayFields {
  eventType: string;
  url: string;
  authorizationScheme: AuthorizationScheme;
  authorization?: string | null | undefined;
}

/** How many deliveries of a registration that is removed are deleted in one commit. */
const deletedAtOnce = 10_000;

type RelayChanges = { [Field in keyof RelayFields]?: RelayFields[Field] | undefined };

const eventTypes: ReadonlySet<string> = new Set(registeredEventTypes);

@Injectable()
export class Relays {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly client: EndpointClient,
  ) {}

  /** Throws `conflict` for an event type that the account has a registration for. */
  async create(accountId: number, fields: RelayFields): Promise<WebhookRegistration> {
    const key = { accountId, id: newId() };
    const data = { ...key, ...this.validated(key, fields) };
    const created = await this.write(() => this.database.prisma.relayRegistration.create({ data }));
    return { ...created, authorization: fields.authorization ?? null };
  }

  async list(accountId: number): Promise<WebhookRegistration[]> {
    const rows = await this.database.prisma.relayRegistration.findMany({
      where: { accountId },
      orderBy: { id: 'asc' },
    });
    return rows.map(toRegistration);
  }

  async get(accountId: number, id: string): Promise<WebhookRegistration> {
    return toRegistration(await this.getRow(accountId, id));
  }

  /** Changes the given fields. Pending deliveries use the new ones. */
  async update(accountId: number, id: string, changes: RelayChanges): Promise<WebhookRegistration> {
    const { id: registrationId } = await this.getRow(accountId, id);
    const updatedAt = await this.database.now();
    const updated = await this.write(() =>
      this.database.transaction(async (tx) => {
        // Locked first: of concurrent changes, each keeps the fields of the others.
        await lockRelay(tx, { accountId, registrationId });
        const row = await this.getRow(accountId, registrationId, tx);
        const data = { ...this.changed(row, changes), updatedAt };
        const where = { accountId_id: { accountId, id: registrationId } };
        return tx.relayRegistration.update({ where, data });
      }),
    );
    return { ...updated, authorization: changes.authorization ?? null };
  }

  /** Removes a registration with its deliveries. */
  async remove(accountId: number, id: string): Promise<void> {
    const { id: registrationId } = await this.getRow(accountId, id);
    const relay = { accountId, registrationId };
    // Most of them without the lock, for which the webhooks of the event type wait.
    while ((await deleteSomeRelays(this.database.prisma, relay, deletedAtOnce)) > 0);
    await this.database.transaction(async (tx) => {
      // Locked first: the trigger inserts no further delivery of a registration that is removed.
      await lockRelay(tx, relay);
      await tx.relayDelivery.deleteMany({ where: relay });
      await tx.relayRegistration.deleteMany({ where: { accountId, id: registrationId } });
    });
  }

  private async getRow(
    accountId: number,
    id: string,
    db: Db = this.database.prisma,
  ): Promise<RelayRegistration> {
    const row = await db.relayRegistration.findUnique({
      where: { accountId_id: { accountId, id: readUuid(id) } },
    });
    if (!row) throw new AppError('not_found');
    return row;
  }

  /** The fields of a registration after changes; what is not changed stays. */
  private changed(row: RelayRegistration, changes: RelayChanges) {
    const stored = row.authorization;
    const authorization =
      changes.authorization === undefined && stored !== null
        ? this.secretBox.decrypt(stored, ownerOfRelaySecret(row))
        : changes.authorization;
    return this.validated(row, {
      eventType: changes.eventType ?? row.eventType,
      url: changes.url ?? row.url,
      authorizationScheme:
        changes.authorizationScheme ?? (row.authorizationScheme as AuthorizationScheme),
      authorization,
    });
  }

  private validated(key: { accountId: number; id: string }, fields: RelayFields) {
    const { eventType, authorizationScheme } = fields;
    const authorization = fields.authorization ?? null;
    const errors: Record<string, string[]> = {};
    if (!eventTypes.has(eventType)) errors['$.eventType'] = ['Must be an event type of the bank.'];
    const checked = this.client.checkUrl(fields.url);
    if (!checked.ok) errors['$.url'] = [checked.message];
    if (!authorizationHeaders(authorizationScheme, authorization))
      errors['$.authorization'] = [
        'Must fit authorizationScheme: "name: value" for HEADER, a token for BEARER and BASIC.',
      ];
    refuseInvalid(errors);
    return {
      ...{ eventType, authorizationScheme },
      url: checked.ok ? checked.url : fields.url,
      authorization:
        authorization === null
          ? null
          : this.secretBox.encrypt(authorization, ownerOfRelaySecret(key)),
    };
  }

  private async write(work: () => Promise<RelayRegistration>): Promise<WebhookRegistration> {
    try {
      return toRegistration(await work());
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== 'P2002') throw cause;
      throw conflict(
        'event_type_registered',
        'The account already has a registration for this event type.',
        cause,
      );
    }
  }
}

/** The authorization is a secret: only the response to the request that sends it has it. */
function toRegistration(row: RelayRegistration): WebhookRegistration {
  const { id, eventType, url, authorizationScheme, createdAt, updatedAt } = row;
  return {
    ...{ id, eventType, url, authorizationScheme },
    authorization: null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
