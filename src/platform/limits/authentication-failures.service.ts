// Slows down whoever fails to authenticate again and again: the work of guessing costs the guesser
// time, and the other callers nothing. Only failures are counted, so that valid requests of the
// same address are neither delayed nor refused: behind a proxy, all clients may share one.
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { addressOf, limitedAddressOf } from '../http/client-address.js';
import { waitWhileConnected, type ClientConnection } from '../http/client-connection.js';
import { AppError } from '../errors.js';
import { Log } from '../log.js';
import { failuresPerSecond, openLimits } from './limits.js';
import { OpenCounts, TokenBuckets } from './memory-limits.js';

const maxAddresses = 10_000;
const holdMs = 1_000;

@Injectable()
export class AuthenticationFailures {
  private readonly rates = new TokenBuckets<string>(maxAddresses);
  private readonly held = new OpenCounts<'all'>(openLimits.heldFailures);

  constructor(private readonly log: Log) {}

  /**
   * The error of a request that failed to authenticate, once its response may be sent:
   * `unauthenticated`, or `rate_limited` if too many responses are held. A request that waits here
   * holds its connection and nothing else. `required` says what would authenticate it.
   */
  async refusal(
    request: FastifyRequest,
    client: ClientConnection,
    required?: string,
  ): Promise<AppError> {
    const details = required === undefined ? {} : { public: required };
    const address = limitedAddressOf(addressOf(request));
    if (this.rates.take(address, failuresPerSecond, performance.now()).isTaken)
      return new AppError('unauthenticated', details);
    this.log.warn('requests of an address fail to authenticate');
    if (this.held.take('all', 1) === 0) return this.held.refusal();
    request.body = undefined;
    try {
      await this.hold(client);
    } finally {
      this.held.free('all', 1);
    }
    return new AppError('unauthenticated', details);
  }

  /** Resolves after a second, or when the client has disconnected. */
  hold(client: ClientConnection): Promise<void> {
    return waitWhileConnected(client, holdMs);
  }
}
