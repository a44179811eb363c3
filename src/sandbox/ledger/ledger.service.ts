// The bank's book. Each movement is balanced, each customer's line follows the one before it, and nobody's balance
// goes below zero: the rows of the accounts are locked in order, so that lines are made one after another.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/exact-json.js';
import { BankClock } from '../clock/bank-clock.service.js';
import type { Tx } from '../sandbox-database.service.js';
import { insertMovement, lockAccounts, type LineRow } from './ledger.queries.js';
import type { Movement, PostedLine } from './movement.js';

@Injectable()
export class Ledger {
  constructor(private readonly clock: BankClock) {}

  /**
   * Writes a movement and gives its lines in the order of its legs. Throws `rule_broken` with the reason
   * `insufficient_funds`; then nothing has moved.
   */
  async post(tx: Tx, { legs, idempotencyKey = null }: Movement): Promise<PostedLine[]> {
    const total = legs.reduce((sum, leg) => sum + leg.changeCents, 0n);
    invariant(total === 0n && legs.length > 1, 'the legs of a movement sum to zero');
    const customers = legs.filter((leg) => 'account' in leg);
    const locked = await lockAccounts(
      tx,
      customers.map((leg) => leg.account.id),
    );
    // Read after the locks: the order of nsu is then the order of time.
    const createdAt = this.clock.now();
    const lines: LineRow[] = [];
    const posted: PostedLine[] = [];
    for (const { account, changeCents, line } of customers) {
      const held = locked.get(account.id);
      invariant(held, 'a customer has one leg in a movement');
      locked.delete(account.id);
      const currentBalanceCents = held.balanceCents + changeCents;
      if (currentBalanceCents < 0n)
        throw new AppError('rule_broken', {
          public: 'The balance of the account is not sufficient.',
          reason: 'insufficient_funds',
        });
      const nsu = held.lastNsu + 1n;
      lines.push({
        account_id: account.id,
        nsu,
        previous_nsu: held.lastNsu === 0n ? null : held.lastNsu,
        change_cents: changeCents,
        balance_previous_cents: held.balanceCents,
        current_balance_cents: currentBalanceCents,
        type_name: line.typeName,
        notes: line.notes ?? null,
        correlation_id: line.correlationId ?? null,
        external_id: line.externalId ?? null,
        end_to_end_id: line.endToEndId ?? null,
        original_end_to_end_id: line.originalEndToEndId ?? null,
        proof: line.proof ?? null,
      });
      const accountNumber = account.number;
      posted.push({ ...line, accountNumber, nsu, changeCents, idempotencyKey, createdAt });
    }
    const mirrors = legs.filter((leg) => 'internal' in leg);
    await insertMovement(tx, {
      idempotencyKey,
      createdAt,
      internalLegs: mirrors.map(({ internal, changeCents }) => ({ number: internal, changeCents })),
      lines: stringifyJson(lines),
    });
    return posted;
  }
}
