import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { profileOf } from '../../src/bank/profiles.js';
import { DeliveryService } from '../../src/events/delivery.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { listDueEndpoints } from '../../src/events/events.queries.js';
import { Clock } from '../../src/platform/clock.js';
import { SecretBox } from '../../src/platform/secret-box.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('an endpoint that', () => {
  let service: ServiceDatabase;
  let silent: Server;
  let delivery: DeliveryService;
  const secretBox = new SecretBox({ credentialsKey: 'x'.repeat(32) } as never);
  const endpointId = '01a1fcf2-0000-7000-8000-000000000001';

  beforeEach(async () => {
    service = await serviceDatabase();
    silent = createServer((socket) => void socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const bank = { profile: profileOf({ profile: 'sandbox' }) } as never;
    const log = pino({ level: 'silent' });
    delivery = new DeliveryService(service.database, secretBox, new Clock(), log, bank);
  });

  afterEach(async () => {
    delivery.onApplicationShutdown();
    await new Promise((resolve) => silent.close(resolve));
    await service.drop();
  });

  /** An event on its way to this URL; gives how many endpoints still have something due after the attempt. */
  const attempt = async (url: string) => {
    const { database, accountId } = service;
    const secret = secretBox.seal(`whsec_${Buffer.alloc(32).toString('base64')}`);
    await database.prisma.webhookEndpoint.create({
      data: { accountId, id: endpointId, url, eventTypes: [], secret },
    });
    const events = new EventsService(database, { enqueue: () => Promise.resolve() } as never);
    await database.transaction((tx) =>
      events.record(tx, accountId, [{ type: 'charge.paid', data: { correlationId: 'order-1' } }]),
    );
    await delivery.deliverDue({ accountId, endpointId });
    await database.pool.query('UPDATE delivery SET next_attempt_at = now()');
    return (await listDueEndpoints(database.prisma, accountId)).length;
  };

  it('keeps us waiting is left in peace a while, so that it takes no place of others', async () => {
    const { port } = silent.address() as AddressInfo;
    expect(await attempt(`http://127.0.0.1:${port}/events`)).toBe(0);
    await service.database.pool.query(`UPDATE webhook_endpoint SET resting_until = now()`);
    expect(await listDueEndpoints(service.database.prisma, service.accountId)).toHaveLength(1);
  });

  it('refuses at once is tried again by its schedule alone', async () => {
    const { port } = silent.address() as AddressInfo;
    await new Promise((resolve) => silent.close(resolve));
    expect(await attempt(`http://127.0.0.1:${port}/events`)).toBe(1);
  });
});
