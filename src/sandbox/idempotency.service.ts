// One key, one effect: the key is taken in the transaction of the effect, so that of many at once one acts and the
// others wait for its answer. A refused request takes no key. Banks differ in what a repeat gets: a mode.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../platform/errors.js';
import { BankClock } from './clock/bank-clock.service.js';
import { findAnswer, keepAnswer, takeKey, type RequestIdentity } from './idempotency.queries.js';
import { Modes } from './modes/modes.service.js';
import type { Tx } from './sandbox-database.service.js';

@Injectable()
export class Idempotency {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  /**
   * The answer of `effect`, or the one that the key was given before; 422 when the body is another. In the mode
   * `conflict` every repeat is 409, in the mode `ignore` the key says nothing and every repeat acts.
   */
  async once(
    tx: Tx,
    request: RequestIdentity & { bodyHash: string },
    effect: () => Promise<string>,
  ): Promise<string> {
    const { bodyHash } = request;
    const { idempotentRepeat } = this.modes.current;
    if (idempotentRepeat === 'ignore') return effect();
    if (await takeKey(tx, request, { bodyHash, at: this.clock.now() })) {
      const answer = await effect();
      await keepAnswer(tx, request, answer);
      return answer;
    }
    if (idempotentRepeat === 'conflict')
      throw new AppError('conflict', {
        public: 'The IdempotencyKey was sent before.',
        reason: 'idempotency_key_conflict',
      });
    const earlier = await findAnswer(tx, request);
    if (earlier?.bodyHash !== bodyHash)
      throw new AppError('idempotency_key_reused', {
        public: 'The IdempotencyKey was sent before with another body.',
      });
    invariant(earlier.answer !== null, 'a key that others see has its answer');
    return earlier.answer;
  }
}
