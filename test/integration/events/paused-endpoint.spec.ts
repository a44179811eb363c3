import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listDueEndpoints } from '../../../src/events/events.queries.js';
import { encryptedSecretOf, endpointServices } from '../../support/endpoint-services.js';
import { withClockOffBy } from '../../support/process-clock.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

describe('an endpoint', () => {
  let service: ServiceDatabase;
  let silentServer: Server;
  let services: ReturnType<typeof endpointServices>;
  const endpointId = '01a1fcf2-0000-7000-8000-000000000001';

  beforeEach(async () => {
    service = await serviceDatabase();
    silentServer = createServer((socket) => void socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve));
    services = endpointServices(service);
  });

  afterEach(async () => {
    services.close();
    await new Promise((resolve) => silentServer.close(resolve));
    await service.drop();
  });

  /**
   * Attempts to deliver an event to this URL. Returns the number of endpoints with a due delivery.
   */
  const attemptDelivery = async (url: string) => {
    const { database, accountId } = service;
    const secret = encryptedSecretOf(accountId, endpointId);
    await database.prisma.webhookEndpoint.create({
      data: { accountId, id: endpointId, url, eventTypes: [], secret },
    });
    const { events, delivery } = services;
    const resource = { kind: 'charge', id: 'order-1' } as const;
    await database.transaction(async (tx) =>
      events.record(tx, accountId, [{ type: 'charge.paid', resource, data: {} }]),
    );
    // The pause does not depend on the clock of this process.
    await withClockOffBy(-1, () => delivery.deliverDue({ accountId, endpointId }));
    await database.pool.query('UPDATE delivery SET next_attempt_at = now()');
    return (await listDueEndpoints(database.prisma, accountId)).length;
  };

  it('is paused when it accepts connections but does not respond', async () => {
    const { port } = silentServer.address() as AddressInfo;
    expect(await attemptDelivery(`http://127.0.0.1:${port}/events`)).toBe(0);
    await service.database.pool.query(`UPDATE webhook_endpoint SET paused_until = now()`);
    expect(await listDueEndpoints(service.database.prisma, service.accountId)).toHaveLength(1);
  });

  it('is not paused when it refuses connections at once', async () => {
    const { port } = silentServer.address() as AddressInfo;
    await new Promise((resolve) => silentServer.close(resolve));
    expect(await attemptDelivery(`http://127.0.0.1:${port}/events`)).toBe(1);
  });
});
