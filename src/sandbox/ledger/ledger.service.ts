// The bank's book. Each movement is balanced, each customer's line follows the one before it, and nobody's balance
// goes below zero: the rows of the accounts are locked in order, so that lines are made one after another.
import { Injectable } from '@nestjs/common';
import { AppError, invariant } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/exact-json.js';
import type { BankAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Modes } from '../modes/modes.service.js';
import type { Tx } from '../sandbox-database.service.js';
import {
  addBlockedCents,
  insertLedgerMovement,
  lockCustomerAccounts,
  type LineRow,
  type LockedAccount,
} from './ledger.queries.js';
import { availableCents, insufficientFunds } from './funds.js';
import { LineVisibility } from './line-visibility.service.js';
import { maxBalanceCents, type LineDetails, type LedgerMovement, type PostedLine } from './movement.js';
import { nextNsu } from './next-nsu.js';

@Injectable()
export class SandboxLedger {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly visibility: LineVisibility,
  ) {}

  /**
   * Lets nobody else move these accounts until the transaction ends. Whoever posts several movements, or judges by
   * what an account's lines say before posting, takes all of them here first: in one order, so that nobody waits in a
   * circle.
   */
  async lock(tx: Tx, accounts: readonly BankAccount[]): Promise<Map<number, LockedAccount>> {
    const ids = accounts.map((account) => account.id);
    const locked = await lockCustomerAccounts(tx, ids);
    invariant(
      ids.every((id) => locked.has(id)),
      'only customers are locked',
    );
    return locked;
  }

  /** Holds part of the balance. Throws `rule_broken` with the reason `insufficient_funds`. */
  async block(tx: Tx, account: BankAccount, cents: bigint): Promise<void> {
    const held = (await this.lock(tx, [account])).get(account.id)!;
    if (availableCents(held) < cents) throw insufficientFunds();
    await addBlockedCents(tx, account.id, cents);
  }

  /** Gives back what was held. */
  async unblock(tx: Tx, account: BankAccount, cents: bigint): Promise<void> {
    await this.lock(tx, [account]);
    await addBlockedCents(tx, account.id, -cents);
  }

  /**
   * Writes a movement and gives its lines in the order of its legs. Throws `rule_broken` with the reason
   * `insufficient_funds` or `balance_limit`; then nothing has moved.
   */
  async post(tx: Tx, { legs, idempotencyKey = null }: LedgerMovement): Promise<PostedLine[]> {
    const total = legs.reduce((sum, leg) => sum + leg.changeCents, 0n);
    invariant(total === 0n && legs.length > 1, 'the legs of a movement sum to zero');
    const customers = legs.filter((leg) => 'account' in leg);
    const locked = await this.lock(
      tx,
      customers.map((leg) => leg.account),
    );
    // Read after the locks: the order of nsu is then the order of time.
    const createdAt = this.clock.now();
    const lines: LineRow[] = [];
    const posted: PostedLine[] = [];
    for (const { account, changeCents, line } of customers) {
      const held = locked.get(account.id);
      invariant(held, 'a customer has one leg in a movement');
      locked.delete(account.id);
      const row = this.rowOf(account, held, changeCents, line);
      lines.push(row);
      const { nsu } = row;
      const accountNumber = account.number;
      posted.push({ ...line, accountNumber, nsu, changeCents, idempotencyKey, createdAt });
    }
    // Asked last: a movement that is refused uses no fault up.
    for (const row of lines)
      row.visible_at = this.visibility.visibleAt(row.nsu, row.type_name, createdAt);
    const mirrors = legs.filter((leg) => 'internal' in leg);
    await insertLedgerMovement(tx, {
      idempotencyKey,
      createdAt,
      internalLegs: mirrors.map(({ internal, changeCents }) => ({ number: internal, changeCents })),
      lines: stringifyJson(lines),
    });
    return posted;
  }

  private rowOf(
    account: BankAccount,
    held: LockedAccount,
    changeCents: bigint,
    line: LineDetails,
  ): LineRow {
    const currentBalanceCents = held.balanceCents + changeCents;
    if (changeCents < 0n && currentBalanceCents < held.blockedCents) throw insufficientFunds();
    if (changeCents > 0n && currentBalanceCents > maxBalanceCents && !isReversal(line.typeName))
      throw new AppError('rule_broken', {
        public: 'The account cannot hold that much.',
        reason: 'balance_limit',
      });
    const { nsu, lastNsu, skippedNsu } = nextNsu(held, this.modes.current.balanceOrder);
    return {
      account_id: account.id,
      nsu,
      previous_nsu: held.tailNsu,
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
      visible_at: null,
      hides_external_id: this.modes.current.lineExternalId === 'absent',
      hides_original_id: this.modes.current.lineOriginalId === 'absent',
      last_nsu: lastNsu,
      skipped_nsu: skippedNsu,
    };
  }
}

/** Money that comes back must find its place: it passes the limit, which leaves room for it. */
function isReversal(typeName: string): boolean {
  return typeName.endsWith('_REVERSAL');
}
