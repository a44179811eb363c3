// Enforces the mode `rateLimitPerSecond`: requests a second per account. Requests above it are
// refused before their body is validated. It uses the machine's clock: a test that freezes the
// bank's clock must not be locked out.
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { routeOf } from '../../platform/http/contract-route.js';
import { tooMany } from '../../platform/http/retry-after.js';
import { TokenBuckets } from '../../platform/limits/memory-limits.js';
import { bankCallOf } from '../faults/bank-call.js';
import { Modes } from '../modes/modes.service.js';
import type { AuthenticatedRequest } from './api-key.guard.js';

@Injectable()
export class RateLimitGuard implements CanActivate {
  private rates = new TokenBuckets<number>();
  private rate: number | null = null;

  constructor(private readonly modes: Modes) {}

  canActivate(context: ExecutionContext): boolean {
    const { rateLimitPerSecond: rate } = this.modes.current;
    // A changed limit starts with full buckets for every account.
    if (rate !== this.rate) [this.rate, this.rates] = [rate, new TokenBuckets<number>()];
    if (rate === null || !bankCallOf(routeOf(context.getHandler()))) return true;
    const { bankAccount } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    // The onboarding API authenticates a partner, which has no account.
    if (!bankAccount) return true;
    const { isTaken, waitMs } = this.rates.take(bankAccount.id, rate, performance.now());
    if (isTaken) return true;
    throw tooMany(undefined, waitMs / 1_000);
  }
}
