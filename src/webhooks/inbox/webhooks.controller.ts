// Receives the bank's webhooks. Not a contract route, because the bank posts bodies of any shape:
// the sender is authenticated and the raw bytes are stored. An unknown account and a wrong secret
// get the same response after the same work.
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
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

interface WebhookRequest {
  Params: { account: string; eventType?: string };
  /** Every body is read as bytes (`readBodiesAsBytes`). Undefined where there is none. */
  Body: Buffer | undefined;
}

const slugText = /^[a-z0-9-]{1,60}$/;
/** No account has this name. It stands for names that an account cannot have. */
const noSlug = '';
/** The bank decides what its webhooks hold. */
const maxBodyBytes = 262_144;

@Controller('webhooks/bank/:account')
export class WebhooksController {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly inbox: WebhookInbox,
    private readonly failures: AuthenticationFailures,
  ) {}

  @Post(['', ':eventType'])
  @HttpCode(200)
  @RouteConfig({ maxBodyBytes, addressClass: 'webhooks' })
  async receive(
    @Req() request: FastifyRequest<WebhookRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const account = await this.authenticate(request);
    if (!account) throw await this.failures.refusal(request, reply.raw);
    await this.inbox.store(account.id, request.params.eventType ?? null, bodyOf(request));
    return { received: true };
  }

  /** The account whose bank sent the webhook. */
  private async authenticate(request: FastifyRequest<WebhookRequest>): Promise<BankAccount | null> {
    const slug = slugText.test(request.params.account) ? request.params.account : noSlug;
    return (
      (await this.accountIfAuthentic(request, this.accounts.recentWebhookSecret(slug))) ??
      this.accountIfAuthentic(request, await this.accounts.findWebhookSecret(slug))
    );
  }

  private async accountIfAuthentic(
    request: FastifyRequest<WebhookRequest>,
    { account, secret }: WebhookSecret,
  ): Promise<BankAccount | null> {
    const now = () => this.database.now();
    return (await isAuthentic(request.headers, secret, bodyOf(request), now)) ? account : null;
  }
}

function bodyOf({ body }: FastifyRequest<WebhookRequest>): Buffer {
  return body ?? Buffer.alloc(0);
}
