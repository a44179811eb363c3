// One key, one effect: the key is taken in the transaction of the effect, so that of many at once one acts and the
// others wait for its answer. A refused request takes no key.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../platform/errors.js';
import { BankClock } from './clock/bank-clock.service.js';
import { findAnswer, keepAnswer, takeKey, type RequestIdentity } from './idempotency.queries.js';
import type { Tx } from './sandbox-database.service.js';

@Injectable()
export class Idempotency {
  constructor(private readonly clock: BankClock) {}

  /** The answer of `effect`, or the one that the key was given before; 422 when the body is another. */
  async once(
    tx: Tx,
    request: RequestIdentity & { bodyHash: string },
    effect: () => Promise<string>,
  ): Promise<string> {
    const { bodyHash } = request;
    if (await takeKey(tx, request, { bodyHash, at: this.clock.now() })) {
      const answer = await effect();
      await keepAnswer(tx, request, answer);
      return answer;
    }
    const earlier = await findAnswer(tx, request);
    if (earlier?.bodyHash !== bodyHash)
      throw new AppError('idempotency_key_reused', {
        public: 'The IdempotencyKey was sent before with another body.',
      });
    invariant(earlier.answer !== null, 'a key that others see has its answer');
    return earlier.answer;
  }
}
