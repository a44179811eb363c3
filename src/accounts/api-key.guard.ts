// Lets in whom the route asks for: a live key in the header of its kind, or the operator's. Who cannot be told is
// 401; who can be, and may not, is 403.
import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { adminKeyHeader, apiKeyHeader, partnerKeyHeader } from '../contract/authentication.js';
import { routeOf } from '../platform/contract-route.js';
import { AppError, invariant } from '../platform/errors.js';
import { neededScope } from './needs.decorator.js';
import { ApiKeysService, type ApiKeyKind, type Caller } from './api-keys.service.js';

const kinds = { 'api-key': 'api', 'partner-key': 'partner' } as const;
const headers: Record<ApiKeyKind, string> = { api: apiKeyHeader, partner: partnerKeyHeader };
const callers = new WeakMap<FastifyRequest, Caller>();

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly apiKeys: ApiKeysService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = routeOf(context.getHandler());
    invariant(route, 'ApiKeyGuard guards a method without @Handles()');
    invariant(route.authentication !== 'none', 'ApiKeyGuard guards a route without a key');
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (route.authentication === 'admin-key') return this.admitOperator(request);
    const kind = kinds[route.authentication];
    const caller = await this.findCaller(request, kind);
    if (!caller) {
      const isOperators = shownKeys(request, [adminKeyHeader, headers[kind]]).some((key) =>
        this.apiKeys.isOperators(key),
      );
      throw new AppError(isOperators ? 'forbidden' : 'unauthenticated');
    }
    if (!caller.scopes.includes(neededScope(context.getHandler()))) throw new AppError('forbidden');
    callers.set(request, caller);
    return true;
  }

  private async admitOperator(request: FastifyRequest): Promise<true> {
    const shown = shownKeys(request, [adminKeyHeader, apiKeyHeader]);
    if (shown.some((key) => this.apiKeys.isOperators(key))) return true;
    const isKnown =
      (await this.findCaller(request, 'api')) ?? (await this.findCaller(request, 'partner'));
    throw new AppError(isKnown ? 'forbidden' : 'unauthenticated');
  }

  private async findCaller(request: FastifyRequest, kind: ApiKeyKind): Promise<Caller | null> {
    const [key] = shownKeys(request, [headers[kind]]);
    return key === undefined ? null : this.apiKeys.find(kind, key);
  }
}

function shownKeys(request: FastifyRequest, names: readonly string[]): string[] {
  return names.map((name) => request.headers[name]).filter((key) => typeof key === 'string');
}

/** Who calls, as the guard found. */
export const CalledBy = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  invariant(caller, '@CalledBy() stands on a method without ApiKeyGuard');
  return caller;
});
