// The bank's door. Outside the contract's routes: the bank posts what it likes, and the raw bytes are kept.
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AccountsService } from '../accounts/accounts.service.js';
import { AppError } from '../platform/errors.js';
import { isAuthentic, type AuthenticationHeaders } from './authentication.js';
import { WebhookInbox } from './webhook-inbox.service.js';

interface WebhookParams {
  account: string;
  eventType?: string;
}

const slugText = /^[a-z0-9-]{1,60}$/;
/** Compared with where there is no account, so that an unknown one takes no less time than a wrong secret. */
const nobodysSecret = 'no account of this name';

@Controller('webhooks/bank')
export class WebhooksController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly inbox: WebhookInbox,
  ) {}

  @Post([':account', ':account/:eventType'])
  @HttpCode(200)
  async receive(@Req() request: FastifyRequest): Promise<{ received: true }> {
    const { account: slug, eventType } = request.params as WebhookParams;
    const account = slugText.test(slug) ? await this.accounts.findBySlug(slug) : null;
    const secret = account ? await this.accounts.webhookSecret(account) : nobodysSecret;
    const body = request.body instanceof Uint8Array ? Buffer.from(request.body) : Buffer.alloc(0);
    const proved = isAuthentic(request.headers as AuthenticationHeaders, secret, body);
    if (!account || !proved) throw new AppError('unauthenticated');
    await this.inbox.keep(account.id, eventType ?? null, body);
    return { received: true };
  }
}
