// Owns the bank's ledger. The legs of each movement sum to zero, each customer's line continues the
// chain of the line before it, and no balance goes below zero. Account rows are locked in order of
// id, so that the lines of one account are written one after another.
import { Injectable } from '@nestjs/common';
import { isLineType, lineTypes } from '../../bank-contract/line-types.js';
import { invariant, AppError, ruleBroken } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { Modes } from '../modes/modes.service.js';
import { shownTypeName } from '../presets/presets.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import {
  addBlockedCents,
  insertLedgerMovement,
  lockCustomerAccounts,
  type LineRow,
  type LockedAccount,
} from './ledger.queries.js';
import {
  availableCents,
  maxBalanceCents,
  outsideMovement,
  type LedgerMovement,
  type LineDetails,
  type PostedLine,
} from './movement.js';
import { nextNsu } from './next-nsu.js';
import { endpointsOfType } from './transaction-types.js';

/** The delay of a line in the mode in which lines become visible out of order. */
const outOfOrderMs = 2_000;

@Injectable()
export class SandboxLedger {
  constructor(
    private readonly clock: BankClock,
    private readonly modes: Modes,
    private readonly faults: Faults,
  ) {}

  /**
   * Locks these accounts until the database transaction ends, in one common order that prevents
   * deadlocks. A caller must lock all its accounts here first when it posts several movements, or
   * when it reads an account's lines before it posts.
   */
  async lock(
    tx: SandboxTx,
    accounts: readonly SandboxAccount[],
  ): Promise<Map<number, LockedAccount>> {
    const ids = accounts.map((account) => account.id);
    const locked = await lockCustomerAccounts(tx, ids);
    invariant(
      ids.every((id) => locked.has(id)),
      'only customers are locked',
    );
    return locked;
  }

  /** Blocks part of the balance. Throws `rule_broken` with the reason `insufficient_funds`. */
  async block(tx: SandboxTx, account: SandboxAccount, cents: bigint): Promise<void> {
    const locked = (await this.lock(tx, [account])).get(account.id)!;
    if (availableCents(locked) < cents) throw insufficientFunds();
    await addBlockedCents(tx, account.id, cents);
  }

  /** Releases an amount that `block` blocked. */
  async unblock(tx: SandboxTx, account: SandboxAccount, cents: bigint): Promise<void> {
    await this.lock(tx, [account]);
    await addBlockedCents(tx, account.id, -cents);
  }

  /**
   * Writes a movement and returns its lines in the order of its legs. Throws `rule_broken` with the
   * reason `insufficient_funds` or `balance_limit` before it writes anything.
   */
  async post(
    tx: SandboxTx,
    { legs, idempotencyKey = null }: LedgerMovement,
  ): Promise<[PostedLine, ...PostedLine[]]> {
    const total = legs.reduce((sum, leg) => sum + leg.changeCents, 0n);
    invariant(total === 0n && legs.length > 1, 'the legs of a movement sum to zero');
    const customers = legs.filter((leg) => 'account' in leg);
    const accounts = customers.map(({ account }) => account);
    const locked = await this.lock(tx, accounts);
    // Read after the locks, so that the order of nsu is the order of time.
    const createdAt = this.clock.now();
    const lines: LineRow[] = [];
    const posted: PostedLine[] = [];
    for (const { account, changeCents, line } of customers) {
      const before = locked.get(account.id);
      invariant(before, 'a customer has one leg in a movement');
      locked.delete(account.id);
      const row = this.rowOf(account, before, changeCents, line);
      lines.push(row);
      posted.push({ ...row, accountNumber: account.number, idempotencyKey, createdAt });
    }
    // Faults fire last, so that a refused movement does not use up a fault.
    for (const row of lines) row.visibleAt = this.visibleAt(row, createdAt);
    const internalLegs = legs.filter((leg) => 'internal' in leg);
    await insertLedgerMovement(tx, {
      idempotencyKey,
      createdAt,
      internalLegs: internalLegs.map(({ internal, changeCents }) => ({
        number: internal,
        changeCents,
      })),
      lines,
    });
    for (const { account, line } of customers) await this.charge(tx, account, line);
    const [first, ...others] = posted;
    invariant(first, 'a movement has a line of a customer');
    return [first, ...others];
  }

  /** Charges the fee of the mode `fees` for a line, where the balance covers it. */
  private async charge(tx: SandboxTx, account: SandboxAccount, line: LineDetails): Promise<void> {
    const { typeName, correlationId, endToEndId } = line;
    const fees: Partial<Record<string, bigint>> = this.modes.current.fees;
    const cents = fees[typeName];
    if (!cents || !isLineType(typeName)) return;
    if (availableCents((await this.lock(tx, [account])).get(account.id)!) < cents) return;
    const fee: LineDetails = {
      ...{ typeName: 'DEBIT_FEE', notes: `Tarifa: ${lineTypes[typeName].name[0]}` },
      ...{ correlationId, endToEndId, proof: endToEndId ? { endToEndId } : null },
    };
    await this.post(tx, outsideMovement(account, 'other', -cents, fee));
  }

  private rowOf(
    account: SandboxAccount,
    before: LockedAccount,
    changeCents: bigint,
    line: LineDetails,
  ): LineRow {
    const currentBalanceCents = before.balanceCents + changeCents;
    if (changeCents < 0n && currentBalanceCents < before.blockedCents) throw insufficientFunds();
    if (changeCents > 0n && currentBalanceCents > maxBalanceCents && !isReversal(line.typeName))
      throw ruleBroken('balance_limit', 'The balance of the account would exceed its limit.');
    const { nsu, lastNsu, skippedNsu } = nextNsu(before, this.modes.current.balanceOrder);
    return {
      accountId: account.id,
      nsu,
      previousNsu: before.tailNsu,
      changeCents,
      balancePreviousCents: before.balanceCents,
      currentBalanceCents,
      typeName: line.typeName,
      notes: line.notes ?? null,
      correlationId: line.correlationId ?? null,
      externalId: line.externalId ?? null,
      endToEndId: line.endToEndId ?? null,
      originalEndToEndId: line.originalEndToEndId ?? null,
      proof: line.proof ?? null,
      visibleAt: null,
      ...this.formOf(line),
      hidesExternalId: this.modes.current.lineExternalId === 'absent',
      hidesOriginalId: this.modes.current.lineOriginalId === 'absent',
      lastNsu,
      skippedNsu,
    };
  }

  private formOf({ typeName, preset }: LineDetails): Pick<LineRow, 'preset' | 'shownTypeName'> {
    // A line that a test writes has the type that the test wrote.
    if (preset) return { preset, shownTypeName: typeName };
    const { current } = this.modes;
    return { preset: current.preset, shownTypeName: shownTypeName(typeName, current) };
  }

  /**
   * The bank's time from which the statement shows the line; null for at once. A delay changes
   * nothing else: the line has the nsu, the time and the balances of its movement.
   */
  private visibleAt({ nsu, typeName }: LineRow, createdAt: Date): Date | null {
    const fault = this.faults.fire(['transactions', ...endpointsOfType(typeName)], 'line-withheld');
    const isOutOfOrder = this.modes.current.nsuVisibility === 'out-of-order' && nsu % 3n === 0n;
    const delayMs = fault?.delayMs ?? (isOutOfOrder ? outOfOrderMs : 0);
    return delayMs > 0 ? new Date(createdAt.getTime() + delayMs) : null;
  }
}

/**
 * A reversal must always be credited, so the balance limit does not apply to it. The limit is low
 * enough that a reversal above it still fits the contract's twelve digits.
 */
function isReversal(typeName: string): boolean {
  return typeName.endsWith('_REVERSAL');
}

export function insufficientFunds(): AppError {
  return ruleBroken('insufficient_funds', 'The balance of the account is not sufficient.');
}
