// A bare server that stores webhooks: Fastify, a secret in a header, JSON.parse, and one INSERT for
// all webhooks that arrived during the one before. It answers after the commit.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import pg from 'pg';
import { serveYardstick } from '../harness/yardstick-server.js';

interface Webhook {
  id: string;
  eventType: string;
  hash: string;
  body: Buffer;
  resolve: () => void;
  reject: (error: unknown) => void;
}

await serveYardstick(async ({ databaseUrl = '', secret = '' }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  await pool.query(`
    CREATE TABLE bare_webhook (
      account_id int NOT NULL,
      body_hash text NOT NULL,
      id uuid NOT NULL,
      event_type text NOT NULL,
      reference text,
      body bytea NOT NULL,
      state text NOT NULL DEFAULT 'pending',
      received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (account_id, body_hash)
    )`);
  const server = fastify();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  let waiting: Webhook[] = [];
  let isStoring = false;

  const store = async () => {
    if (isStoring) return;
    isStoring = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await pool.query(
          `INSERT INTO bare_webhook (account_id, body_hash, id, event_type, reference, body)
           SELECT 1, * FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::bytea[])
           ON CONFLICT DO NOTHING`,
          [
            batch.map(({ hash }) => hash),
            batch.map(({ id }) => id),
            batch.map(({ eventType }) => eventType),
            batch.map(() => null),
            batch.map(({ body }) => body),
          ],
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isStoring = false;
  };

  server.post('/webhooks', async (request, reply) => {
    const presented = Buffer.from(String(request.headers['x-webhook-key']));
    const expected = Buffer.from(secret);
    if (presented.length !== expected.length || !timingSafeEqual(presented, expected))
      return reply.status(401).send({ status: 401 });
    const body = request.body as Buffer;
    const { eventType } = JSON.parse(body.toString()) as { eventType: string };
    const hash = createHash('sha256').update(body).digest('hex');
    await new Promise<void>((resolve, reject) => {
      waiting.push({ id: randomUUID(), eventType, hash, body, resolve, reject });
      void store();
    });
    return { received: true };
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
});
