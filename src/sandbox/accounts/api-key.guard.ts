// A route that the preset lacks is 404. Every other one requires a key: a request without a valid
// one gets 401 before its body is validated.
import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  apiKeyHeader,
  partnerKeyHeader,
  type Route,
  type RouteInput,
} from '../../bank-contract/route.js';
import { inputOf, routeOf } from '../../platform/http/contract-route.js';
import { AppError, invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/json/exact-json.js';
import type { Departure } from '../../platform/http/lenient-request.js';
import { Modes } from '../modes/modes.service.js';
import { isRouteServed } from '../presets/presets.js';
import { SandboxSettings } from '../sandbox-database.service.js';
import { Accounts } from './accounts.service.js';
import type { SandboxAccount } from './party.js';

export type AuthenticatedRequest = FastifyRequest & {
  bankAccount?: SandboxAccount;
  /** How the modes do not let a request depart from the contract's form. */
  refused?: readonly Departure[];
};

@Injectable()
export class SandboxApiKeyGuard implements CanActivate {
  constructor(
    private readonly accounts: Accounts,
    private readonly settings: SandboxSettings,
    private readonly modes: Modes,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = routeOf(context.getHandler());
    // Only the health checks have no route; they reveal no account data.
    if (route && !isRouteServed(route, this.modes.current)) throw new AppError('not_found');
    if (!route || route.authentication === 'none') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (route.authentication === 'partner-key') return this.authenticatePartner(request);
    const apiKey = request.headers[apiKeyHeader];
    const account = typeof apiKey === 'string' ? await this.accounts.findByApiKey(apiKey) : null;
    if (!account) throw keyRequired(apiKeyHeader);
    request.bankAccount = account;
    request.refused = this.modes.current.refusedForms;
    return true;
  }

  /** Keys are compared by hash, so timing reveals nothing. */
  private authenticatePartner(request: FastifyRequest): true {
    const partnerKey = request.headers[partnerKeyHeader];
    if (typeof partnerKey !== 'string' || sha256(partnerKey) !== sha256(this.settings.partnerKey))
      throw keyRequired(partnerKeyHeader);
    return true;
  }
}

function keyRequired(header: string): AppError {
  return new AppError('unauthenticated', {
    public: `A valid key is required in the header ${header}.`,
  });
}

/** The decoded request of a route, with the account whose key it carries. */
export type AccountRequest<R extends Route> = RouteInput<R> & { account: SandboxAccount };

/** Injects an `AccountRequest`. */
export const AccountInput = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { bankAccount: account, refused } = context
    .switchToHttp()
    .getRequest<AuthenticatedRequest>();
  invariant(account, '@AccountInput() is used only on routes with an API key');
  return { ...inputOf(context, refused), account };
});
