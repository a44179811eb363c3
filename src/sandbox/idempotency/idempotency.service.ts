// Executes each IdempotencyKey once. The key is inserted in the transaction of the effect: of
// concurrent requests one is executed, and the others wait for its response. A refused request
// stores no key. The mode `idempotentRepeat` sets the response to a repeat.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { BankClock } from '../clock/bank-clock.service.js';
import {
  findIdempotentResponse,
  storeIdempotentResponse,
  insertIdempotencyKey,
  type RequestIdentity,
} from './idempotency.queries.js';
import { Modes } from '../modes/modes.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';

@Injectable()
export class Idempotency {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  /**
   * Returns the response of `effect`, or the stored response of the key. Throws
   * `idempotency_key_reused` when the body differs. In mode `conflict` every repeat throws
   * `conflict`; in mode `ignore` repeats are executed.
   */
  async runOnce(
    tx: SandboxTx,
    request: RequestIdentity & { bodyHash: string },
    effect: () => Promise<string>,
  ): Promise<string> {
    const { bodyHash } = request;
    const { idempotentRepeat } = this.modes.current;
    if (idempotentRepeat === 'ignore') return effect();
    if (await insertIdempotencyKey(tx, request, { bodyHash, at: this.clock.now() })) {
      const response = await effect();
      await storeIdempotentResponse(tx, request, response);
      return response;
    }
    if (idempotentRepeat === 'conflict')
      throw new AppError('conflict', {
        public: 'The IdempotencyKey was already used. Send a new key.',
        reason: 'idempotency_key_conflict',
      });
    const earlier = await findIdempotentResponse(tx, request);
    if (earlier?.bodyHash !== bodyHash)
      throw new AppError('idempotency_key_reused', {
        public: 'The IdempotencyKey was already used with a different body. Send a new key.',
      });
    invariant(earlier.response !== null, 'a committed idempotency key has its response');
    return earlier.response;
  }
}
