// Reads the sandbox's webhook deliveries from its table, so that no receiver is needed.
import type { SandboxUnderTest } from '../contract/bank-under-test.js';

export async function registerForDeliveries(
  bank: SandboxUnderTest,
  eventType: string,
  apiKey = 'sandbox-dev-key',
): Promise<void> {
  const body = { eventType, url: 'http://127.0.0.1:9/nobody', authorizationScheme: 'NONE' };
  const { status } = await bank.call('POST', '/baas/api/v1/webhooks', { body, apiKey });
  expect(status).toBe(200);
}

/** The bodies of all deliveries, oldest first; only those of `eventType` when it is given. */
export async function listDeliveryBodies(
  bank: SandboxUnderTest,
  eventType: string | null = null,
): Promise<Record<string, unknown>[]> {
  const { rows } = await bank.pool.query<{ body: string }>(
    `SELECT delivery.body FROM webhook_delivery AS delivery
     JOIN webhook_registration AS registration ON registration.id = delivery.registration_id
     WHERE $1::text IS NULL OR registration.event_type = $1 ORDER BY delivery.id`,
    [eventType],
  );
  return rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}
