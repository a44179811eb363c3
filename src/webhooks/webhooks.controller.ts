// Receives the bank's webhooks. Not a contract route, because the bank posts bodies of any shape:
// the sender is authenticated and the raw bytes are stored. An unknown account and a wrong secret
// get the same response after the same work.
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { AccountsService } from '../accounts/accounts.service.js';
import { Database } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { isAuthentic, isSigned, type AuthenticationHeaders } from './authentication.js';
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
  ) {}

  @RouteConfig({ addressClass: 'webhooks' })
  @Post([':account', ':account/:eventType'])
  @HttpCode(200)
  @RouteConfig({ maxBodyBytes })
  async receive(@Req() request: FastifyRequest): Promise<{ received: true }> {
    const { account: slug, eventType } = request.params as WebhookParams;
    const found = await this.accounts.findWebhookSecret(slugText.test(slug) ? slug : noSlug);
    const { account, secret } = found;
    const body = request.body instanceof Uint8Array ? Buffer.from(request.body) : Buffer.alloc(0);
    const headers: AuthenticationHeaders = request.headers;
    const now = isSigned(headers) ? await this.database.now() : null;
    const isFromBank = isAuthentic(headers, secret, body, now);
    if (!account || !isFromBank) throw new AppError('unauthenticated');
    await this.inbox.store(account.id, eventType ?? null, body);
    return { received: true };
  }
}
