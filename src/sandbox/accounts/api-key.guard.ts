// Every route of the bank is somebody's: a request without a key that we gave out is 401, before anything of it is read.
import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { apiKeyHeader, partnerKeyHeader } from '../../contract/authentication.js';
import { routeOf } from '../../platform/contract-route.js';
import { AppError, invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/exact-json.js';
import { SandboxSettings } from '../sandbox-database.service.js';
import { Accounts } from './accounts.service.js';
import type { BankAccount } from './party.js';

export type AuthenticatedRequest = FastifyRequest & { bankAccount?: BankAccount };

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly accounts: Accounts,
    private readonly settings: SandboxSettings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const route = routeOf(context.getHandler());
    // Outside the routes stands the process's health alone, which tells nothing of anybody.
    if (!route || route.authentication === 'none') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (route.authentication === 'partner-key') return this.provePartner(request);
    const apiKey = request.headers[apiKeyHeader];
    const account = typeof apiKey === 'string' ? await this.accounts.findByApiKey(apiKey) : null;
    if (!account) throw new AppError('unauthenticated');
    request.bankAccount = account;
    return true;
  }

  /** Compared by hash: nothing is learnt from how long it takes. */
  private provePartner(request: FastifyRequest): true {
    const partnerKey = request.headers[partnerKeyHeader];
    if (typeof partnerKey !== 'string' || sha256(partnerKey) !== sha256(this.settings.partnerKey))
      throw new AppError('unauthenticated');
    return true;
  }
}

/** The account whose key the request carries. */
export const CurrentAccount = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { bankAccount } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  invariant(bankAccount, '@CurrentAccount() stands on a route without a key');
  return bankAccount;
});
