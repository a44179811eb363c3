// Receives the bank's webhooks. Not a contract route, because the bank posts bodies of any shape:
// the sender is authenticated and the raw bytes are stored. An unknown account and a wrong secret
// get the same response after the same work.
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { Database } from '../database.service.js';
import { AuthenticationFailures } from '../request-limits/authentication-failures.service.js';
import { isAuthentic } from './authentication.js';
import { WebhookInbox } from './webhook-inbox.service.js';

interface WebhookParams {
  account: string;
  eventType?: string;
}

const slugText = /^[a-z0-9-]{1,60}$/;
/** No account has this name. It stands for names that an account cannot have. */
const noSlug = '';

/** The bank decides what its webhooks hold. */
const maxBodyBytes = 262_144;

@Controller('webhooks/bank')
export class WebhooksController {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly inbox: WebhookInbox,
    private readonly failures: AuthenticationFailures,
  ) {}

  @RouteConfig({ addressClass: 'webhooks' })
  @Post([':account', ':account/:eventType'])
  @HttpCode(200)
  @RouteConfig({ maxBodyBytes })
  async receive(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) { raw: client }: FastifyReply,
  ): Promise<{ received: true }> {
    const account = await this.authenticate(request);
    if (!account) throw await this.failures.refusal(request, client);
    const { eventType } = request.params as WebhookParams;
    await this.inbox.store(account.id, eventType ?? null, bodyOf(request));
    return { received: true };
  }

  /** The account whose bank sent the webhook. */
  private async authenticate(request: FastifyRequest): Promise<BankAccount | null> {
    const { account: slug } = request.params as WebhookParams;
    const found = await this.accounts.findWebhookSecret(slugText.test(slug) ? slug : noSlug);
    const isFromBank = await isAuthentic(request.headers, found.secret, bodyOf(request), () =>
      this.database.now(),
    );
    return isFromBank ? found.account : null;
  }
}

function bodyOf({ body }: FastifyRequest): Buffer {
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.alloc(0);
}
