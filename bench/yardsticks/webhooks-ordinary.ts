// The ordinary design of a webhook server: Nest on Express, one Prisma `create` and one BullMQ job
// for each webhook, on the service's own table and queue.
import 'reflect-metadata';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Controller, Headers, HttpCode, Inject, Module, Post, Req } from '@nestjs/common';
import { UnauthorizedException, type RawBodyRequest } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { PrismaPg } from '@prisma/adapter-pg';
import { createPostgresBackend, Queue, runMigrations, setDefaultBackendFactory } from 'bullmq';
import pg from 'pg';
import { PrismaClient } from '../../src/generated/service/client.js';
import { serveYardstick } from '../harness/yardstick-server.js';

const settings = { secret: '', accountId: 0 };

@Controller('webhooks')
class WebhooksController {
  constructor(
    @Inject(PrismaClient) private readonly prisma: PrismaClient,
    @Inject(Queue) private readonly queue: Queue,
  ) {}

  @Post()
  @HttpCode(200)
  async receive(
    @Headers('x-webhook-key') presented: string,
    @Req() request: RawBodyRequest<{ body: { eventType: string; nsu: number } }>,
  ): Promise<{ received: true }> {
    if (!isSame(presented, settings.secret)) throw new UnauthorizedException();
    const body = request.rawBody ?? Buffer.alloc(0);
    const { accountId } = settings;
    const { bodyHash } = await this.prisma.webhookEvent.create({
      data: {
        ...{ accountId, eventType: request.body.eventType, state: 'pending' },
        ...{ bodyHash: createHash('sha256').update(body).digest('hex') },
        ...{ body: new Uint8Array(body), copies: 1 },
        ...{ referenceKind: 'nsu', reference: String(request.body.nsu) },
      },
    });
    await this.queue.add('process-webhook', { accountId, bodyHash });
    return { received: true };
  }
}

function isSame(presented: string, secret: string): boolean {
  const [given, expected] = [Buffer.from(presented), Buffer.from(secret)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

await serveYardstick(async ({ databaseUrl = '', secret = '', accountId = '' }) => {
  Object.assign(settings, { secret, accountId: Number(accountId) });
  const options = '-c search_path=bullmq';
  const queuePool = new pg.Pool({ connectionString: databaseUrl, options, max: 10 });
  queuePool.setMaxListeners(0);
  const client = await queuePool.connect();
  await runMigrations(client);
  client.release();
  setDefaultBackendFactory(createPostgresBackend);
  const queue = new Queue('ordinary-webhooks', { connection: queuePool as never });
  const adapter = new PrismaPg({ connectionString: databaseUrl, max: 10 });
  const prisma = new PrismaClient({ adapter });

  @Module({
    controllers: [WebhooksController],
    providers: [
      { provide: PrismaClient, useValue: prisma },
      { provide: Queue, useValue: queue },
    ],
  })
  class WebhooksModule {}

  const application = await NestFactory.create<NestExpressApplication>(
    WebhooksModule,
    new ExpressAdapter(),
    { rawBody: true, logger: false },
  );
  await application.listen(0, '127.0.0.1');
  return (application.getHttpServer().address() as AddressInfo).port;
});
