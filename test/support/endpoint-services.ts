// The services that deliver events, without the application around them.
import { pino } from 'pino';
import { bankProfileOf } from '../../src/bank/profiles.js';
import { DeliveryService } from '../../src/events/delivery.service.js';
import { EndpointClient } from '../../src/events/endpoint-client.service.js';
import { ownerOfEndpointSecret } from '../../src/events/endpoint-secrets.queries.js';
import { EndpointsService } from '../../src/events/endpoints.service.js';
import { EventCounterparties } from '../../src/events/event-counterparties.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { NameResolver } from '../../src/events/name-resolver.service.js';
import { Addresses } from '../../src/platform/http/http.js';
import { secretBoxOf } from './secret-box.js';
import type { ServiceDatabase } from './service-database.js';
import { recordedQueues } from './recorded-queues.js';

const secretBox = secretBoxOf();

interface Options {
  profile?: 'sandbox' | 'generic';
  names?: NameResolver;
  ownPorts?: number[];
}

export function endpointServices({ database }: ServiceDatabase, options: Options = {}) {
  const names = options.names ?? new NameResolver();
  const bank = { profile: bankProfileOf({ profile: options.profile ?? 'sandbox' }) } as never;
  const addresses = new Addresses();
  for (const port of options.ownPorts ?? []) addresses.ownPorts.add(port);
  const log = pino({ level: 'silent' });
  const client = new EndpointClient(names, secretBox, log, bank, addresses);
  const events = new EventsService(database, recordedQueues()('deliverEvents'));
  const settings = { disabledEndpointHours: 72, endpointsPerAccount: 20 } as never;
  return {
    client,
    events,
    endpoints: new EndpointsService(database, secretBox, events, settings, client),
    delivery: new DeliveryService(database, client, new EventCounterparties(database)),
    close: () => {
      client.onModuleDestroy();
      client.onApplicationShutdown();
      names.onModuleDestroy();
    },
  };
}

/** A secret for an endpoint that the test inserts itself. */
export function encryptedSecretOf(accountId: number, id: string): string {
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  return secretBox.encrypt(secret, ownerOfEndpointSecret({ accountId, id }));
}
