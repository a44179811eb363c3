// Limits the requests of each caller that ApiKeyGuard has authenticated: their rate, and how many
// are worked on at once.
import { Injectable, type ExecutionContext, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { operatorAccountId } from '../idempotency/idempotency.service.js';
import type { Route } from '../../bank-contract/route.js';
import { runRequestsBy } from '../../platform/http/contract-route.js';
import type { RequestClass } from '../../platform/settings/request-limit-settings.js';
import { RateLimits } from '../../platform/limits/rate-limits.service.js';
import { RequestSlots } from '../../platform/limits/request-slots.service.js';
import { findCallerOf } from './api-key.guard.js';

const operator = { accountId: operatorAccountId, actor: 'operator', weight: 1 };

/** The classes of requests that change something, where they are not `writes`. */
const classesByChapter: Readonly<Record<string, RequestClass>> = {
  Transfers: 'money-out',
  'Batch transfers between accounts': 'money-out',
  'Bill payments': 'money-out',
  Refunds: 'money-out',
  'Pix key lookup': 'look-ups',
  'Bulk uploads': 'uploads',
};

function requestClassOf({ chapter, method }: Route): RequestClass {
  return method === 'GET' ? 'reads' : (classesByChapter[chapter] ?? 'writes');
}

@Injectable()
export class CallerLimits implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly rateLimits: RateLimits,
    private readonly slots: RequestSlots,
  ) {}

  /** The request is decoded, worked on and encoded in its slot. A stream is sent without one. */
  onModuleInit(): void {
    runRequestsBy(this.host.httpAdapter.getInstance(), (context, route, work) =>
      this.limit(context, requestClassOf(route), work),
    );
  }

  private async limit(
    context: ExecutionContext,
    requestClass: RequestClass,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const { accountId, actor, weight } = findCallerOf(context) ?? operator;
    const request = { accountId, actor, weight, requestClass };
    const admission = this.rateLimits.admitCaller(request);
    if (admission) await admission;
    const { raw } = context.switchToHttp().getResponse<FastifyReply>();
    return this.slots.run(request, raw, work);
  }
}
