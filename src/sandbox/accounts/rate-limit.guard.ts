// Enforces the mode `rateLimitPerSecond`: requests a second per account. Requests above it are
// refused before their body is validated. It uses the machine's clock: a test that freezes the
// bank's clock must not be locked out.
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { routeOf } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { fullBucket, takeToken, type TokenBucket } from '../../platform/limits/rate-limits.js';
import { bankCallOf } from '../faults/bank-call.js';
import { Modes } from '../modes/modes.service.js';
import type { AuthenticatedRequest } from './api-key.guard.js';

@Injectable()
export class RateLimitGuard implements CanActivate {
  private readonly buckets = new Map<number, TokenBucket>();
  private rate: number | null = null;

  constructor(private readonly modes: Modes) {}

  canActivate(context: ExecutionContext): boolean {
    const rate = this.rateInForce();
    if (rate === null || !bankCallOf(routeOf(context.getHandler()))) return true;
    const { bankAccount } = context.switchToHttp().getRequest<AuthenticatedRequest>();
    // The onboarding API authenticates a partner, which has no account.
    if (!bankAccount) return true;
    const nowMs = performance.now();
    const bucket = this.buckets.get(bankAccount.id) ?? fullBucket(rate, nowMs);
    this.buckets.set(bankAccount.id, bucket);
    const taking = takeToken(bucket, rate, nowMs);
    if (taking.isTaken) return true;
    throw new AppError('rate_limited', {
      headers: { 'retry-after': String(Math.max(1, Math.ceil(taking.waitMs / 1_000))) },
    });
  }

  /** A changed limit starts with full buckets for every account. */
  private rateInForce(): number | null {
    const { rateLimitPerSecond } = this.modes.current;
    if (rateLimitPerSecond !== this.rate) this.buckets.clear();
    this.rate = rateLimitPerSecond;
    return rateLimitPerSecond;
  }
}
