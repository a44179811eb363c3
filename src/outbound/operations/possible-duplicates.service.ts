// Finds operations that a request for outgoing money may repeat: a client that retries with a new
// key must not pay twice. docs/reference/recovery.md has the cases.
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import type { SqlTx, Tx } from '../../platform/postgres/database.service.js';
import type { Prisma } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { findLostPeriod } from '../../access/accounts/account-restores.queries.js';
import type { NewOperation } from './operations.queries.js';
import { findRepeatedDebit } from './restores.queries.js';
import * as queries from './possible-duplicates.queries.js';

/**
 * When an operation has been in progress for this long, its client may be retrying with a new key.
 */
const sendingForMs = 2_000;
/** An externalId is an id of one payment: a client that repeats a payment next week has another. */
export const sameRequestForMs = 24 * 3_600_000;

/** Less than a month: a monthly payment of one amount is another payment. */
const restoreDays = 28;

@Injectable()
export class PossibleDuplicates {
  constructor(private readonly settings: Settings) {}

  /**
   * Throws `possible_duplicate` when another operation has the same externalId, counterparty and
   * amount and is unfinished, has succeeded in the last day or takes effect later; and when another
   * operation has the same counterparty and amount, its outcome is not known, and no id on the
   * statement would distinguish the two. With the policy `refuse`, it also throws when the other
   * operation has recently succeeded or is being sent. With the policy `warn`, it returns the id of
   * that operation instead. `lock` is called before.
   */
  async findOrThrow(tx: Tx, operation: NewOperation, isAllowed: boolean): Promise<string | null> {
    if (!isOutgoing(operation) || isAllowed) return null;
    const { policy } = this.settings.possibleDuplicates;
    const found = await queries.findPossibleDuplicate(tx, operation, this.times);
    if (!found) return null;
    if (!found.isRefused && policy === 'warn') return found.id;
    throw mayRepeat(found.id);
  }

  /**
   * The ids of those new operations of an account that are stored without further checks: nothing
   * is stored with their identities, they repeat nothing, and the account is live.
   */
  async listStorable(
    tx: SqlTx,
    accountId: number,
    unstored: readonly queries.UnstoredOperation[],
  ): Promise<ReadonlySet<string>> {
    // Sent together, in this order.
    const [, storable] = await Promise.all([
      this.lock(tx, accountId, comparedOf(unstored)),
      queries.listStorable(tx, accountId, unstored, this.limits),
    ]);
    return new Set(storable.map(({ id }) => id));
  }

  /** Statements of which the last one fails if something objects to one of the operations. */
  refusalStatements(
    accountId: number,
    unstored: readonly queries.UnstoredOperation[],
  ): Prisma.Sql[] {
    return [
      ...this.locksFor(accountId, comparedOf(unstored)),
      queries.refusalUnlessStorable(accountId, unstored, this.limits),
    ];
  }

  /** What two operations have in common if one of them may repeat the other. */
  conflictsOf({ counterparty, amountCents, externalIdHash }: NewOperation): string[] {
    if (counterparty === null) return [];
    return [
      ...(this.times.similarForMs === null ? [] : [`amount ${amountCents}`]),
      ...(externalIdHash === null ? [] : [`externalId ${externalIdHash}`]),
    ];
  }

  private get limits(): queries.StorableLimits {
    return { ...this.times, withinDays: restoreDays };
  }

  private get times(): queries.DuplicateTimes {
    const { policy, windowMinutes } = this.settings.possibleDuplicates;
    const similarForMs = policy === 'off' ? null : windowMinutes * 60_000;
    return { sendingForMs, sameRequestForMs, similarForMs };
  }

  /**
   * Takes the locks that new operations of an account need to be compared, before their identities
   * are claimed. They are sent together.
   */
  async lock(tx: SqlTx, accountId: number, operations: readonly NewOperation[]): Promise<void> {
    await queries.takeLocks(tx, this.locksFor(accountId, operations));
  }

  private locksFor(accountId: number, operations: readonly NewOperation[]): Prisma.Sql[] {
    const outgoing = operations.filter(isOutgoing);
    if (outgoing.length === 0) return [];
    const hashes = outgoing.flatMap(({ externalIdHash }) => externalIdHash ?? []);
    return [
      // The second request of a double click arrives while the first request is still being sent.
      ...(this.times.similarForMs === null ? [] : [queries.possibleDuplicatesLock(accountId)]),
      ...(hashes.length === 0 ? [] : [queries.sameExternalIdsLock(hashes)]),
    ];
  }

  /**
   * Throws `possible_duplicate` when the database was set back recently, and this operation may
   * repeat one that was lost with it, which its caller cannot find any more. Its expected payments
   * are recorded before. Where the operation is storable and the statement shows by its ids that it
   * was sent, returns since when, by the bank's clock.
   */
  async assertNotLost(
    tx: Tx,
    operation: NewOperation,
    { isAllowed, isStorable }: { isAllowed: boolean; isStorable: boolean },
  ): Promise<Date | null> {
    if (operation.amountCents === null || isAllowed) return null;
    const lost = await findLostPeriod(tx, operation.accountId, restoreDays);
    if (!lost) return null;
    const { nsu, isSame, isScheduled } = await findRepeatedDebit(tx, operation, lost);
    if (isSame && isStorable) return lost.lostFrom;
    if (nsu === null && !isScheduled) return null;
    const shown =
      nsu === null
        ? 'It may lack a scheduled payment, of which the statement shows no debit yet.'
        : 'The statement shows a debit that no stored operation explains.';
    throw new AppError('possible_duplicate', {
      public:
        `The database was set back to an earlier time. ${shown} This request may repeat it. To ` +
        'send it anyway, repeat it with the header Concilia-Allow-Duplicate: true.',
      ...(nsu === null ? {} : { headers: { Location: `/v1/transactions?nsu=${nsu}` } }),
    });
  }
}

/** The error of a request that may repeat the operation. */
export function mayRepeat(operationId: string): AppError {
  return new AppError('possible_duplicate', {
    public:
      'Another operation has the same counterparty and amount, and this request may repeat it. ' +
      'To send it anyway, repeat it with the header Concilia-Allow-Duplicate: true.',
    headers: { Location: `/v1/operations/${operationId}` },
  });
}

/** Those of them with which others are compared. */
const comparedOf = (unstored: readonly queries.UnstoredOperation[]): NewOperation[] =>
  unstored.filter(({ isCompared }) => isCompared).map(({ operation }) => operation);

function isOutgoing({ counterparty, amountCents }: NewOperation): boolean {
  return counterparty !== null && amountCents !== null;
}
