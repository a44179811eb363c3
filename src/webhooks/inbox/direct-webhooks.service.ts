// Receives most webhooks without Fastify: those that present the secret in a header, while their
// account was looked up within the last moment. All others take the route of the controller, which
// also refuses them: who is not authentic, above a limit, or signs the body instead.
import type { IncomingMessage, Server } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { Settings } from '../../platform/settings/config.js';
import { serveDirectly } from '../../platform/http/direct-requests.js';
import { Log } from '../../platform/log.js';
import { RateLimits } from '../../platform/limits/rate-limits.service.js';
import { presentsSecret } from './authentication.js';
import { WebhookInbox } from './webhook-inbox.service.js';
import { webhookRoute } from './webhooks.controller.js';

const url = /^\/webhooks\/bank\/([a-z0-9-]{1,60})\/(\w{1,80})$/;

@Injectable()
export class DirectWebhooks implements OnModuleDestroy {
  private isClosing = false;

  constructor(
    private readonly settings: Settings,
    private readonly accounts: AccountsService,
    private readonly inbox: WebhookInbox,
    private readonly rateLimits: RateLimits,
    private readonly log: Log,
  ) {}

  serveOn(server: Server): void {
    const { maxBodyBytes, response } = webhookRoute;
    const route = `${webhookRoute.path}/:eventType`;
    const admit = (request: IncomingMessage) => this.admit(request);
    serveDirectly(server, { route, maxBodyBytes, admit, response, log: this.log });
  }

  onModuleDestroy(): void {
    this.isClosing = true;
  }

  private admit(request: IncomingMessage): ((body: Buffer) => Promise<void>) | null {
    const [, slug, eventType] = url.exec(request.url ?? '') ?? [];
    if (slug === undefined || eventType === undefined || this.isClosing) return null;
    const { account, secret } = this.accounts.recentWebhookSecret(slug);
    // The same work for an unknown account, so that its duration shows nothing.
    const isAuthentic = presentsSecret(request.headers, secret);
    if (!isAuthentic || !account) return null;
    const address = this.addressOf(request);
    if (!address || !this.rateLimits.admitAddressAtOnce(address, 'webhooks')) return null;
    return (body) => this.inbox.store(account.id, eventType, body);
  }

  /** Null where a proxy may say which address it is. */
  private addressOf({ headers, socket }: IncomingMessage): string | null {
    const { trustedProxies } = this.settings;
    const isPeer = trustedProxies === 0 || headers['x-forwarded-for'] === undefined;
    return isPeer ? (socket.remoteAddress ?? null) : null;
  }
}
