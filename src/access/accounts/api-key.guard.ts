// Authenticates the caller of a route: by a valid API key in the header of its kind, or by the
// admin key. Without a valid key the response is 401; with a valid key of the wrong kind or scope
// it is 403.
import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  adminKeyHeader,
  apiKeyHeader,
  partnerKeyHeader,
  type Route,
  type RouteInput,
} from '../../bank-contract/route.js';
import { inputOf, ReadLater, routeOf } from '../../platform/http/contract-route.js';
import { Settings } from '../../platform/settings/config.js';
import { AppError, invariant } from '../../platform/errors.js';
import { AuthenticationFailures } from '../../platform/limits/authentication-failures.service.js';
import { missingScope, requiredScope } from './scope.decorator.js';
import { ApiKeysService, type ApiKeyKind, type Caller } from './api-keys.service.js';

const kinds = { 'api-key': 'api', 'partner-key': 'partner' } as const;
const headers: Record<ApiKeyKind, string> = { api: apiKeyHeader, partner: partnerKeyHeader };
const callers = new WeakMap<FastifyRequest, Caller>();

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly failures: AuthenticationFailures,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = routeOf(context.getHandler());
    invariant(route, 'ApiKeyGuard guards a method without @Handles()');
    invariant(route.authentication !== 'none', 'ApiKeyGuard guards a route without a key');
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (route.authentication === 'admin-key') return this.authenticateOperator(context);
    const kind = kinds[route.authentication];
    const caller = await this.findCaller(request, kind);
    if (!caller) {
      const isAdminKey = presentedKeys(request, [adminKeyHeader, headers[kind]]).some((key) =>
        this.apiKeys.isAdminKey(key),
      );
      throw isAdminKey ? wrongKey(headers[kind]) : await this.refusal(context, headers[kind]);
    }
    const scope = requiredScope(context.getHandler());
    if (!caller.scopes.includes(scope)) throw missingScope(scope);
    callers.set(request, caller);
    return true;
  }

  private async authenticateOperator(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const presented = presentedKeys(request, [adminKeyHeader, apiKeyHeader]);
    if (presented.some((key) => this.apiKeys.isAdminKey(key))) return true;
    const isKnown =
      (await this.findCaller(request, 'api')) ?? (await this.findCaller(request, 'partner'));
    throw isKnown ? wrongKey(adminKeyHeader) : await this.refusal(context, adminKeyHeader);
  }

  private async refusal(context: ExecutionContext, header: string): Promise<AppError> {
    const http = context.switchToHttp();
    const { raw: client } = http.getResponse<FastifyReply>();
    return this.failures.refusal(http.getRequest<FastifyRequest>(), client, keyRequired(header));
  }

  private findCaller(request: FastifyRequest, kind: ApiKeyKind): Promise<Caller | null> {
    const names = [headers[kind], ...this.settings.apiKeyHeaders];
    const [key] = presentedKeys(request, names);
    return key === undefined ? Promise.resolve(null) : this.apiKeys.findCaller(kind, key);
  }
}

const keyRequired = (header: string) => `A valid key is required in the header ${header}.`;

/** The key is valid, and of another kind. */
function wrongKey(header: string): AppError {
  return new AppError('forbidden', { reason: 'wrong_key', public: keyRequired(header) });
}

function presentedKeys(request: FastifyRequest, names: readonly string[]): string[] {
  return names.map((name) => request.headers[name]).filter((key) => typeof key === 'string');
}

/** The caller that ApiKeyGuard authenticated. */
export const CalledBy = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(context),
);

/** The decoded request of a route, and its caller. */
export type CallerInput<R extends Route> = RouteInput<R> & Caller;

/** Injects the decoded request, as `@Input()` does, and the caller of `@CalledBy()` with it. */
export const FromCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    new ReadLater(() => ({ ...callerOf(context), ...inputOf(context) })),
);

/** The caller that ApiKeyGuard authenticated, if the request has one. */
export function findCallerOf(context: ExecutionContext): Caller | null {
  return callers.get(context.switchToHttp().getRequest<FastifyRequest>()) ?? null;
}

function callerOf(context: ExecutionContext): Caller {
  const caller = findCallerOf(context);
  invariant(caller, 'the caller of a method without ApiKeyGuard is unknown');
  return caller;
}
