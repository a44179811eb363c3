// Receives the bank's webhooks. Not a contract route, because the bank posts bodies of any shape:
// the sender is authenticated and the raw bytes are stored. An unknown account and a wrong secret
// get the same response after the same work. A route of Fastify itself, because Nest's own pipeline
// costs a webhook more than storing it; most webhooks do not even come here (DirectWebhooks).
import { Controller, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  AccountsService,
  type BankAccount,
  type WebhookSecret,
} from '../../access/accounts/accounts.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AuthenticationFailures } from '../../platform/limits/authentication-failures.service.js';
import { isAuthentic } from './authentication.js';
import { WebhookInbox } from './webhook-inbox.service.js';

interface WebhookParams {
  account: string;
  eventType?: string;
}

const slugText = /^[a-z0-9-]{1,60}$/;
/** No account has this name. It stands for names that an account cannot have. */
const noSlug = '';

export const webhookRoute = {
  path: '/webhooks/bank/:account',
  /** The bank decides what its webhooks hold. */
  maxBodyBytes: 262_144,
  response: '{"received":true}',
} as const;

const { path, maxBodyBytes, response } = webhookRoute;
const config = { maxBodyBytes, addressClass: 'webhooks' };

@Controller()
export class WebhooksController implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly inbox: WebhookInbox,
    private readonly failures: AuthenticationFailures,
  ) {}

  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance();
    for (const url of [path, `${path}/:eventType`])
      server.post(url, { config }, (request, reply) => this.receive(request, reply));
  }

  private async receive(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const account = await this.authenticate(request);
    if (!account) throw await this.failures.refusal(request, reply.raw);
    const { eventType } = request.params as WebhookParams;
    await this.inbox.store(account.id, eventType ?? null, bodyOf(request));
    void reply.header('content-type', 'application/json; charset=utf-8');
    return response;
  }

  /** The account whose bank sent the webhook. */
  private async authenticate(request: FastifyRequest): Promise<BankAccount | null> {
    const { account } = request.params as WebhookParams;
    const slug = slugText.test(account) ? account : noSlug;
    return (
      (await this.accountIfAuthentic(request, this.accounts.recentWebhookSecret(slug))) ??
      this.accountIfAuthentic(request, await this.accounts.findWebhookSecret(slug))
    );
  }

  private async accountIfAuthentic(
    request: FastifyRequest,
    { account, secret }: WebhookSecret,
  ): Promise<BankAccount | null> {
    const now = () => this.database.now();
    return (await isAuthentic(request.headers, secret, bodyOf(request), now)) ? account : null;
  }
}

function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}
