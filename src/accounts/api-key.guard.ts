// Lets in whom the route asks for: a live key in the header of its kind. Anything else is 401.
import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { apiKeyHeader, partnerKeyHeader } from '../contract/authentication.js';
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
    const kind = kinds[route.authentication];
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = request.headers[headers[kind]];
    const caller = typeof key === 'string' ? await this.apiKeys.find(kind, key) : null;
    if (!caller) throw new AppError('unauthenticated');
    if (!caller.scopes.includes(neededScope(context.getHandler()))) throw new AppError('forbidden');
    callers.set(request, caller);
    return true;
  }
}

/** Who calls, as the guard found. */
export const CalledBy = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const caller = callers.get(context.switchToHttp().getRequest<FastifyRequest>());
  invariant(caller, '@CalledBy() stands on a method without ApiKeyGuard');
  return caller;
});
