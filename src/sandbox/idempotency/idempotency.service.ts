// Executes each IdempotencyKey once. The key is inserted in the transaction of the effect: of
// concurrent requests one is executed, and the others wait for its response. A refused request
// stores no key. The mode `idempotentRepeat` sets the response to a repeat.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Route } from '../../bank-contract/route.js';
import type { IdempotentRequest } from '../../generated/sandbox/client.js';
import { Reply } from '../../platform/http/contract-route.js';
import { AppError, conflict, invariant } from '../../platform/errors.js';
import { canonicalJson, sha256 } from '../../platform/json/exact-json.js';
import type { AccountRequest } from '../accounts/api-key.guard.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';

@Injectable()
export class Idempotency {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly clock: BankClock,
    private readonly modes: Modes,
  ) {}

  /**
   * Replies with the text that `effect` returns, or with the stored response of the key. Throws
   * `idempotency_key_reused` when the body differs. In mode `conflict` every repeat throws
   * `conflict`; in mode `ignore` repeats are executed.
   */
  async runOnce(
    route: Route,
    { account, idempotencyKey: key, body }: Omit<AccountRequest<Route>, 'params' | 'query'>,
    effect: (tx: SandboxTx, key: string) => Promise<string>,
  ): Promise<Reply> {
    if (key === null) {
      const { qrCodeKey } = this.modes.current;
      invariant(route.idempotencyKey !== 'required', 'the route requires an IdempotencyKey');
      if (qrCodeKey === 'required')
        throw new AppError('validation_failed', {
          errors: { IdempotencyKey: ['The header IdempotencyKey is required.'] },
        });
      return new Reply(200, await this.database.transaction((tx) => effect(tx, randomUUID())));
    }
    const request = { accountId: account.id, operation: route.name, key };
    const bodyHash = sha256(canonicalJson(body));
    const response = await this.database.transaction(async (tx) => {
      if (this.modes.current.idempotentRepeat === 'ignore') return effect(tx, key);
      const row = { ...request, bodyHash, createdAt: this.clock.now() };
      // Waits for a concurrent transaction that inserts the same key.
      if (!(await tx.insert('idempotent_request', row, 'ON CONFLICT DO NOTHING')))
        return this.repeat(tx, request, bodyHash);
      const answer = await effect(tx, key);
      await tx.update<IdempotentRequest>('idempotent_request', request, { status: 200, answer });
      return answer;
    });
    return new Reply(200, response);
  }

  private async repeat(
    tx: SandboxTx,
    request: Pick<IdempotentRequest, 'accountId' | 'operation' | 'key'>,
    bodyHash: string,
  ): Promise<string> {
    if (this.modes.current.idempotentRepeat === 'conflict')
      throw conflict('idempotency_key_conflict', 'The IdempotencyKey was already used.');
    const earlier = await tx.findRow<IdempotentRequest>('idempotent_request', request);
    if (earlier?.bodyHash !== bodyHash)
      throw new AppError('idempotency_key_reused', {
        public: 'The IdempotencyKey was already used with a different body.',
      });
    invariant(earlier.answer !== null, 'a committed idempotency key has its response');
    return earlier.answer;
  }
}
