import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { addressOf } from '../http/client-address.js';
import { isForOperators } from '../http/health.js';
import type { AddressClass } from '../settings/request-limit-settings.js';
import { AuthenticationFailures } from './authentication-failures.service.js';
import { RateLimits } from './rate-limits.service.js';
import { RequestSlots } from './request-slots.service.js';

// Global: the requests of every module are limited.
@Global()
@Module({
  providers: [RateLimits, RequestSlots, AuthenticationFailures],
  exports: [RateLimits, RequestSlots, AuthenticationFailures],
})
export class RequestLimitsModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly rateLimits: RateLimits,
  ) {}

  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance();
    server.addHook('onRequest', (request, _reply, done) => {
      if (isForOperators(request)) return done();
      const { addressClass = 'requests' } = request.routeOptions.config as {
        addressClass?: AddressClass;
      };
      const admission = this.rateLimits.admitAddress(addressOf(request), addressClass);
      if (!admission) return done();
      admission.then(() => done(), done);
    });
  }
}
