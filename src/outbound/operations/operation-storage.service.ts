// Stores new operations with everything that depends on them: their identities, expected payments
// and their module's own rows. Requests of one account that arrive while others are being stored
// share a transaction. What any check objects to is stored alone, or refused with its reason.
import { Injectable } from '@nestjs/common';
import {
  calledAccountsWith,
  findCalledAccounts,
  type CalledAccount,
} from '../../access/accounts/accounts.queries.js';
import {
  AccountsService,
  asCalled,
  type BankAccount,
} from '../../access/accounts/accounts.service.js';
import { readFaultOfMode } from '../../access/accounts/account-modes.queries.js';
import { Database, isRefusedStatement, type Tx } from '../../platform/postgres/database.service.js';
import { expectedPaymentWrites } from '../../statement/expected-payments/recording.queries.js';
import {
  areWritten,
  completeWrites,
  writeTogether,
  type Write,
} from '../../platform/postgres/joined-writes.queries.js';
import { PaymentControls } from '../payment-controls/payment-controls.service.js';
import { hasNoEffect } from '../operation-states.js';
import { Countdown } from '../../platform/countdown.js';
import { AppError, conflict, invariant } from '../../platform/errors.js';
import { groupBy } from '../../platform/grouping.js';
import { waitOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { SharedBatches } from '../../platform/postgres/shared-batches.js';
import { ApprovalRequirements } from './approval-requirements.service.js';
import * as approvals from './approvals.queries.js';
import * as identity from './identities.queries.js';
import type { Operation, OperationKind, OperationRequest } from './operation.js';
import { attemptLimits, startWithinMs } from './operation-sender.service.js';
import * as queries from './operations.queries.js';
import type { UnstoredOperation } from './possible-duplicates.queries.js';
import { PossibleDuplicates } from './possible-duplicates.service.js';
import { markUnfinishedOperations } from './restores.queries.js';

/** The process that stored an operation sends it; the sweeper takes over after this long. */
const sweepAfterMs = 5_000;
/** How often other requests may claim and release an operation's identities while we store it. */
const maxIdentityRaces = 10;
/** How long after its end an identical request without a key is still the same operation. */
const joinWindowMs = 600_000;

/** How many requests of an account wait without their slots to be stored. */
const maxWithoutSlots = 200;

/** A request and the operation that it becomes. */
export interface NewRequest {
  kind: OperationKind;
  request: OperationRequest;
  operation: queries.NewOperation;
  identities: readonly identity.NewIdentity[];
}

/** The first attempt of an operation, before it is made. */
export interface ClaimedAttempt {
  account: BankAccount;
  sendWithin: Countdown;
}

interface SharedStorage {
  isStored: boolean;
  /** The attempt for which what was stored is claimed; null if nothing can be stored. */
  attempt: ClaimedAttempt | null;
}

/** The account as it was read with the ids of the operations that were stored. */
interface StoredBatch {
  account: BankAccount;
  ids: ReadonlySet<string>;
}

export type StoredOperation =
  /** A new operation, claimed for its first attempt: the caller sends it within `sendWithin`. */
  | ({ outcome: 'claimed' } & ClaimedAttempt)
  /** A new operation that is not claimed, or is unknown: its database had lost it. */
  | {
      outcome: 'stored';
      operation: Operation;
      /** A recent operation that this operation may repeat, if the policy is `warn`. */
      possibleDuplicateId: string | null;
    }
  /** The operation that the request repeats. */
  | { outcome: 'repeated'; operation: Operation };

/** Rolls back the transaction that wanted to claim an identity which another one has claimed. */
class IdentityTaken extends Error {}

@Injectable()
export class OperationStorage {
  private readonly batches = new SharedBatches<NewRequest, SharedStorage>(
    (accountId, requests) => this.storeTogether(accountId, requests),
    ({ operation, identities }) => [
      // Of every kind: some kinds share what their natural identities name.
      ...identities.map(({ identity: one }) => one),
      ...this.duplicates.conflictsOf(operation),
    ],
  );

  /** The accounts of whose last batch something was refused: the next one may be the same. */
  private readonly refusedAccounts = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly duplicates: PossibleDuplicates,
    private readonly controls: PaymentControls,
    private readonly requirements: ApprovalRequirements,
  ) {}

  /**
   * Stores a new operation, or finds the operation that the request repeats. Throws when the repeat
   * differs, and when the request must not be sent.
   */
  async findOrStore(newRequest: NewRequest): Promise<StoredOperation> {
    const { operation } = newRequest;
    if (isShareable(newRequest)) {
      const { accountId } = operation;
      const store = () => this.batches.submit(accountId, newRequest);
      // A batch has one connection for all of its requests, which need no slots. Those that keep
      // theirs make the next ones wait while PostgreSQL does not keep up.
      const isCrowded = this.batches.waitingOf(accountId) >= maxWithoutSlots;
      const { isStored, attempt } = await (isCrowded ? store() : waitOutsideSlot(store));
      if (isStored && attempt) return { outcome: 'claimed', ...attempt };
      const found = await this.findOrStoreAlone(newRequest);
      return attempt && isOwnClaim(found, operation) ? { outcome: 'claimed', ...attempt } : found;
    }
    return this.findOrStoreAlone(newRequest);
  }

  /**
   * Stores those requests of an account to which nothing objects. Nothing is stored of the others.
   */
  private async storeTogether(accountId: number, requests: NewRequest[]): Promise<SharedStorage[]> {
    // It begins before the claims, so it ends before their limit.
    const sendWithin = new Countdown(startWithinMs);
    try {
      const { account, ids } = await this.storeAllOrStorable(accountId, requests);
      const attempt = { account, sendWithin };
      return requests.map(({ operation }) => ({ isStored: ids.has(operation.id), attempt }));
    } catch {
      // One of them broke a rule, another process claimed an identity in between, or the answer to
      // the commit was lost. Each is stored alone now, where the error is thrown to its caller.
      const account = await this.accounts.get(accountId).catch(() => null);
      return requests.map(() => {
        return { isStored: false, attempt: account && { account, sendWithin } };
      });
    }
  }

  /**
   * Most often nothing objects to any of them, and storing them is one round trip. Otherwise those
   * to which something objects are left out. After such a batch, they are looked for first.
   */
  private async storeAllOrStorable(
    accountId: number,
    requests: readonly NewRequest[],
  ): Promise<StoredBatch> {
    if (!this.refusedAccounts.has(accountId))
      try {
        return await this.storeAll(accountId, requests);
      } catch (error) {
        if (!isRefusedStatement(error)) throw error;
        this.refusedAccounts.add(accountId);
      }
    const stored = await this.storeStorable(accountId, requests);
    if (stored.ids.size === requests.length) this.refusedAccounts.delete(accountId);
    return stored;
  }

  /** Throws if something objects to one of them: then none is stored. */
  private async storeAll(accountId: number, requests: readonly NewRequest[]): Promise<StoredBatch> {
    const readAtMs = performance.now();
    const [account] = await this.database.sqlAtOnce<CalledAccount>(
      calledAccountsWith([accountId]),
      [
        ...this.duplicates.refusalStatements(accountId, requests.map(unstoredOf)),
        completeWrites(writesOf(accountId, requests)),
      ],
    );
    invariant(account, 'the account of stored operations exists');
    const ids = new Set(requests.map(({ operation }) => operation.id));
    return { account: asCalled(account, readAtMs, true), ids };
  }

  private async storeStorable(
    accountId: number,
    requests: readonly NewRequest[],
  ): Promise<StoredBatch> {
    return this.database.sqlTransaction(async (tx, commitWith) => {
      const readAtMs = performance.now();
      // Sent together, in this order.
      const [[account], ids] = await Promise.all([
        findCalledAccounts(tx, [accountId]),
        this.duplicates.listStorable(tx, accountId, requests.map(unstoredOf)),
      ]);
      invariant(account, 'the account of an operation exists');
      const chosen = requests.filter(({ operation }) => ids.has(operation.id));
      if (chosen.length > 0) commitWith(completeWrites(writesOf(accountId, chosen)));
      return { account: asCalled(account, readAtMs, true), ids };
    });
  }

  private async findOrStoreAlone(newRequest: NewRequest): Promise<StoredOperation> {
    const found = await this.findOrStoreInTransaction(newRequest);
    if (found.outcome === 'stored' && found.operation.state === 'awaiting_approval')
      await this.requirements.enqueueDeliveries(found.operation.accountId);
    return found;
  }

  private async findOrStoreInTransaction(newRequest: NewRequest): Promise<StoredOperation> {
    for (let attempt = 1; attempt <= maxIdentityRaces; attempt += 1) {
      try {
        return await this.database.transaction(async (tx) => {
          const repeated = await this.findRepeated(tx, newRequest);
          if (repeated) return { outcome: 'repeated' as const, operation: repeated };
          return this.store(tx, newRequest);
        });
      } catch (error) {
        // The next attempt finds the operation that holds it. It may be this request's own: of a
        // batch whose commit was slow, and whose answer was lost.
        if (!(error instanceof IdentityTaken)) throw error;
      }
    }
    throw conflict('request_in_progress', 'An identical request is still in progress.');
  }

  /**
   * The operation that has one of the identities; null when there is none. Throws
   * `idempotency_key_reused` when its request was different, or when the identities belong to two
   * operations.
   */
  private async findRepeated(
    tx: Tx,
    { operation: newOperation, identities }: NewRequest,
  ): Promise<Operation | null> {
    const { accountId, kind } = newOperation;
    await identity.releaseExpiredIdentities(tx, accountId, kind, identities, joinWindowMs);
    const found = await tx.operationIdentity.findMany({
      where: { accountId, kind, identity: { in: identities.map((one) => one.identity) } },
    });
    const [first] = found;
    if (!first) return null;
    const operation = await tx.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id: first.operationId } },
    });
    const isSame =
      operation.requestHash === newOperation.requestHash &&
      found.every(({ operationId }) => operationId === first.operationId);
    if (!isSame) throw keyReused();
    // The natural identity of an operation without effect stays free for a corrected request.
    const hadNoEffect = hasNoEffect(operation.state);
    const claimed = identities.filter(({ isNatural }) => !isNatural || !hadNoEffect);
    if (claimed.length > 0) await identity.claimIdentities(tx, operation, claimed);
    return operation;
  }

  /** Throws `IdentityTaken` when another transaction claimed an identity in between. */
  private async store(tx: Tx, newRequest: NewRequest): Promise<StoredOperation> {
    const { kind, request, operation: newOperation, identities } = newRequest;
    const { accountId, id } = newOperation;
    const { allowDuplicate } = request.preferences;
    const { mode, policy } = await approvals.readStoringRules(tx, accountId);
    if (mode !== 'live') throw await readFaultOfMode(tx, accountId, mode);
    await request.assertApplies?.(tx);
    // Before the identities, as `storeTogether` does: the reverse order would be a deadlock.
    if (!allowDuplicate) await this.duplicates.lock(tx, accountId, [newOperation]);
    const areClaimed =
      identities.length === 0 || (await identity.claimIdentities(tx, newOperation, identities));
    if (!areClaimed) throw new IdentityTaken();
    // Checked after the identities are claimed: a repeat of the same request is found by its
    // identity and is not a duplicate.
    const possibleDuplicateId = await this.duplicates.findOrThrow(tx, newOperation, allowDuplicate);
    const counted = await this.assertAllowed(tx, newRequest);
    const approval = await this.requirements.find(tx, policy, newOperation, request);
    const received = { sending: null, nextActionInMs: sweepAfterMs, approval };
    const payments = expectedPaymentWrites(accountId, [expectingOperation(newRequest)]);
    const [ids = []] = payments.ids;
    await writeTogether(tx, [
      ...queries.operationsWrites(accountId, [newOperation], received),
      ...payments.writes,
      ...counted,
    ]);
    // After the operation, which it refers to.
    if (approval) await writeTogether(tx, [approvals.approvalRequestWrite(newOperation, approval)]);
    const isAllowed = allowDuplicate;
    const assertNotLost = (isStorable: boolean) =>
      this.duplicates.assertNotLost(tx, newOperation, { isAllowed, isStorable });
    try {
      if (request.record) await request.record(tx, id, ids);
      else await insertRow(tx, accountId, kind, request.rowOf(id, ids));
    } catch (error) {
      // A paid bill cannot be paid again, for example: if this request has paid it, say so.
      if (error instanceof AppError) await assertNotLost(false);
      throw error;
    }
    const since = await assertNotLost(approval === null);
    if (since) await markUnfinishedOperations(tx, accountId, { id, since });
    await request.preferences.claim?.(tx, id);
    // After all rows of which the event reports ids.
    if (approval) await this.requirements.report(tx, newOperation, approval);
    const operation = await tx.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id } },
    });
    return { outcome: 'stored', operation, possibleDuplicateId };
  }

  /** Throws when the account's payment controls forbid the payment, if the request is one. */
  private async assertAllowed(tx: Tx, { kind, request, operation }: NewRequest): Promise<Write[]> {
    const { outgoing, preferences } = request;
    if (!outgoing) return [];
    const { requestedBy } = preferences;
    const { accountId, id: operationId, effectiveFrom } = operation;
    const { payees = [outgoing] } = outgoing;
    const { sendsMoney: purpose = 'transfer' } = kind;
    return this.controls.assertAllowed(tx, {
      ...{ accountId, operationId, purpose, effectiveFrom },
      payees: payees.map(({ counterparty, amountCents }) => ({ counterparty, amountCents })),
      // An automatic refund counts for no key.
      actor: requestedBy.source === 'policy' ? null : requestedBy.actor,
    });
  }
}

function unstoredOf({ kind, request, operation, identities }: NewRequest): UnstoredOperation {
  const kinds = [kind.name, ...(kind.sharesIdentitiesWith ?? [])];
  return { operation, identities, kinds, isCompared: !request.preferences.allowDuplicate };
}

/** All that is stored of new operations, which are claimed for their first attempts. */
function writesOf(accountId: number, requests: readonly NewRequest[]): Write[] {
  const payments = expectedPaymentWrites(accountId, requests.map(expectingOperation));
  const operations = requests.map(({ operation }) => operation);
  const sending = { sending: attemptLimits, nextActionInMs: sweepAfterMs, approval: null };
  const rows = requests.map(({ kind, request, operation }, index) => {
    return { kind, row: request.rowOf?.(operation.id, payments.ids[index] ?? []) };
  });
  const ofKinds = [...groupBy(rows, ({ kind }) => kind.name).values()];
  return [
    identity.identitiesWrite(accountId, requests),
    ...queries.operationsWrites(accountId, operations, sending),
    ...payments.writes,
    ...ofKinds.flatMap((ofKind) => {
      const ownRows = ofKind.map(({ row }) => row);
      return ofKind[0]?.kind.rowWrites?.(accountId, ownRows) ?? [];
    }),
  ];
}

/** Throws the reason if the row breaks a rule. */
async function insertRow(
  tx: Tx,
  accountId: number,
  kind: OperationKind,
  row: unknown,
): Promise<void> {
  if (await areWritten(tx, kind.rowWrites?.(accountId, [row]) ?? [])) return;
  throw (await kind.refusalOf?.(tx, accountId, row)) ?? new AppError('conflict');
}

function expectingOperation({ operation: { id, kind }, request }: NewRequest) {
  const { expectedPayments, metadata } = request;
  const expected = metadata
    ? expectedPayments.map((one, index) => ({ ...one, metadata: metadata[index] ?? null }))
    : expectedPayments;
  return { operationId: id, kind, expected };
}

/**
 * Whether a request is stored in one transaction with others: nothing is checked under a lock of
 * its own, and its caller waits for the response.
 */
function isShareable({ kind, request, identities }: NewRequest): boolean {
  const { rowOf, assertApplies, preferences } = request;
  invariant(!rowOf || kind.rowWrites, `${kind.name} writes no rows`);
  const isTemporary = identities.some((one) => one.isTemporary);
  const isAlone = Boolean(assertApplies ?? preferences.claim) || preferences.respondAsync;
  const isSimple = rowOf !== undefined && kind.repeat !== 'never' && !isTemporary && !isAlone;
  // After a commit whose answer was lost, the request finds its own operation by an identity.
  return isSimple && identities.length > 0;
}

/**
 * Whether a request has found its own operation: the batch was committed, and only the answer of
 * the database was lost. Nobody else makes the attempt for which the operation is claimed.
 */
function isOwnClaim(found: StoredOperation, { id }: queries.NewOperation): boolean {
  if (found.outcome !== 'repeated' || found.operation.id !== id) return false;
  return found.operation.state === 'sending' && found.operation.attempts === 1;
}

export function keyReused(): AppError {
  return new AppError('idempotency_key_reused', {
    public: 'The idempotency key or id was already used with a different request.',
  });
}
