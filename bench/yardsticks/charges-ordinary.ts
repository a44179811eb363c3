// The yardstick of G9: the ordinary design of a service that sends charges to a bank, with the
// guarantees of the product. Nest on Fastify and Prisma. An operation, its exact bytes and its
// idempotency key are committed before the call, and the outcome after it; a repeat gets the stored
// response. It has the product's tables `operation` and `operation_identity`, as many connections,
// and the same durable commits; each request has the two transactions that it needs and no query
// besides. It lacks all else: authentication, validation, possible duplicates, expected payments,
// recovery and events.
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Controller,
  Headers,
  HttpCode,
  HttpException,
  Inject,
  Module,
  Post,
  Req,
  type RawBodyRequest,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { PrismaPg } from '@prisma/adapter-pg';
import axios, { type AxiosInstance } from 'axios';
import type { FastifyRequest } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { Prisma, PrismaClient } from '../../src/generated/service/client.js';
import { serveYardstick } from '../harness/yardstick-server.js';

const accountId = 1;
const kind = 'create_charge';
const recoverAfterMs = 30_000;
const bank = Symbol('bank');

@Controller('baas/v1/charges')
class ChargesController {
  constructor(
    @Inject(PrismaClient) private readonly prisma: PrismaClient,
    @Inject(bank) private readonly bank: AxiosInstance,
  ) {}

  @Post()
  @HttpCode(200)
  async create(
    @Headers('idempotencykey') key: string,
    @Req() request: RawBodyRequest<FastifyRequest>,
  ): Promise<unknown> {
    const id = uuidv7();
    const requestBody = (request.rawBody ?? Buffer.alloc(0)).toString();
    const requestHash = createHash('sha256').update(requestBody).digest('hex');
    try {
      await this.prisma.$transaction([
        this.prisma.operation.create({
          data: {
            ...{ accountId, id, kind, state: 'sending', idempotencyKey: key },
            ...{ requestHash, requestParams: '{}', requestBody },
            nextActionAt: new Date(Date.now() + recoverAfterMs),
          },
          select: { id: true },
        }),
        this.prisma.operationIdentity.create({
          data: { accountId, kind, identity: key, operationId: id, isNatural: false },
          select: { identity: true },
        }),
      ]);
    } catch (error) {
      if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002')
        return this.replay(key, requestHash);
      throw error;
    }
    const { status, data } = await this.bank.post<string>('/baas/v1/charges', requestBody, {
      headers: { idempotencykey: id },
    });
    await this.prisma.operation.update({
      where: { accountId_id: { accountId, id } },
      data: {
        ...{ state: 'succeeded', responseStatus: status, responseBody: data },
        ...{ endedAt: new Date(), nextActionAt: null },
      },
      select: { id: true },
    });
    return JSON.parse(data) as unknown;
  }

  private async replay(key: string, requestHash: string): Promise<unknown> {
    const where = { accountId_kind_identity: { accountId, kind, identity: key } };
    const { operation } = await this.prisma.operationIdentity.findUniqueOrThrow({
      where,
      include: { operation: true },
    });
    if (operation.requestHash !== requestHash) throw new HttpException('another request', 422);
    if (operation.responseBody === null) throw new HttpException('still in progress', 409);
    return JSON.parse(operation.responseBody) as unknown;
  }
}

await serveYardstick(async ({ databaseUrl = '', bankUrl = '', poolSize = '' }) => {
  const adapter = new PrismaPg({ connectionString: databaseUrl, max: Number(poolSize) });
  const transactionOptions = { maxWait: 10_000, timeout: 10_000 };
  const prisma = new PrismaClient({ adapter, transactionOptions });
  await prisma.bankAccount.create({ data: { id: accountId, slug: 'main' } });

  @Module({
    controllers: [ChargesController],
    providers: [
      { provide: PrismaClient, useValue: prisma },
      {
        provide: bank,
        useValue: axios.create({
          ...{ baseURL: bankUrl, timeout: 10_000, maxRedirects: 0, responseType: 'text' },
          headers: { 'content-type': 'application/json' },
          transformResponse: (text: string) => text,
          httpAgent: new Agent({ keepAlive: true, maxSockets: 64 }),
        }),
      },
    ],
  })
  class ChargesModule {}

  const application = await NestFactory.create<NestFastifyApplication>(
    ChargesModule,
    new FastifyAdapter(),
    { rawBody: true, logger: false },
  );
  await application.listen(0, '127.0.0.1');
  return (application.getHttpServer().address() as AddressInfo).port;
});
