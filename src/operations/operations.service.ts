// The journal of outbound requests. An operation is committed with its key and exact bytes before
// the first byte is sent. A repeat finds the operation and gets its response. An operation without
// a response is unknown, not failed.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { assertAccountLive } from '../accounts/account-modes.queries.js';
import { encodeBody } from '../bank/request-encoding.js';
import type { Route, RouteInput } from '../contract/route.js';
import { Database, type Tx } from '../database.service.js';
import { recordExpectedPayments } from '../expected-payments/recording.queries.js';
import { Reply } from '../platform/contract-route.js';
import { AppError, conflict, invariant } from '../platform/errors.js';
import { canonicalJson, parseJson, stringifyJson } from '../platform/exact-json.js';
import { sleepOutsideSlot } from '../platform/job-slots.js';
import { SecretBox } from '../platform/secret-box.js';
import { JobQueue } from '../platform/job-queue.js';
import { newId } from '../platform/ids.js';
import {
  isFinalOperationState,
  noPreferences,
  operationHeader,
  type OperationRequest,
  type Operation,
  type OperationKind,
  type RequestPreferences,
} from './operation.js';
import * as identity from './identities.queries.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import * as queries from './operations.queries.js';
import { describeOperation, operationView } from './operations.schema.js';
import { PossibleDuplicates } from './possible-duplicates.service.js';

/** The process that stored an operation sends it; the sweeper takes over after this long. */
const sweepAfterMs = 5_000;
/** How often other requests may claim and release an operation's identities while we store it. */
const maxIdentityRaces = 10;
/** How long after its end an identical request without a key is still the same operation. */
const joinWindowMs = 600_000;
/** How long a repeat waits for the response to the first request. */
const repeatWaitMs = 12_000;
const repeatPollMs = 100;

interface StoredOperation {
  isNew: boolean;
  operation: Operation;
  /** A recent operation that this operation may repeat, if the policy is `warn`. */
  possibleDuplicateId: string | null;
}

@Injectable()
export class OperationsService {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly outcomes: OperationOutcomes,
    private readonly sender: OperationSender,
    private readonly duplicates: PossibleDuplicates,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Registers a kind; each feature module does so once, when it starts. */
  register<R extends Route>(kind: OperationKind<R>): void {
    this.outcomes.register(kind);
  }

  /**
   * Sends a request to the bank once and replies with the bank's response, or with 202 and the
   * operation when no response comes in time. A repeat gets the stored response.
   */
  async perform<R extends Route>(
    kind: OperationKind<R>,
    request: OperationRequest<R>,
  ): Promise<Reply> {
    const { accountId, preferences, redactedBody } = request;
    // A body that is stored without its secrets must never be resent.
    invariant(redactedBody === undefined || kind.repeat === 'never', `${kind.name} holds secrets`);
    const { operation, isNew, possibleDuplicateId } = await this.findOrStore(kind, request);
    if (!isNew) return this.replyToRepeat(operation, preferences);
    const headers: Record<string, string> = possibleDuplicateId
      ? { 'Possible-Duplicate': `/v1/operations/${possibleDuplicateId}` }
      : {};
    if (preferences.respondAsync && kind.repeat !== 'never') {
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId: operation.id });
      return this.toReply(operation, { ...headers, 'Preference-Applied': 'respond-async' });
    }
    // Secrets are sent from memory, once; everything else is sent as it was committed.
    const secretBody = kind.repeat === 'never' ? encodeBody(kind.route, request.input) : null;
    const exactResponse = await this.sender.send(operation, 'received', secretBody);
    return this.reply({ accountId, id: operation.id }, headers, exactResponse);
  }

  /**
   * The reply to an earlier request with this key, for a module that builds each request anew (a
   * transfer by key begins with a key look-up). Null when there was no earlier request. Throws
   * `idempotency_key_reused` when the earlier request had another amount.
   */
  async replay(
    kind: Pick<OperationKind, 'name'>,
    { accountId, idempotencyKey }: { accountId: number; idempotencyKey: string },
    amountCents: bigint,
  ): Promise<Reply | null> {
    const key = { accountId, kind: kind.name, identity: keyIdentity(idempotencyKey) };
    const known = await this.database.prisma.operationIdentity.findUnique({
      where: { accountId_kind_identity: key },
    });
    if (!known) return null;
    const operation = await this.get(accountId, known.operationId);
    if (operation.amountCents !== amountCents) throw keyReused();
    return this.replyToRepeat(operation, noPreferences);
  }

  /** The reply to a repeat of the request that made this operation. */
  async replyAgain(ref: queries.OperationRef): Promise<Reply> {
    return this.replyToRepeat(await this.get(ref.accountId, ref.id), noPreferences);
  }

  /** Throws `not_found`, also for an operation of another account. */
  async get(accountId: number, id: string): Promise<Operation> {
    const operation = await this.database.prisma.operation.findUnique({
      where: { accountId_id: { accountId, id } },
    });
    if (!operation) throw new AppError('not_found');
    return operation;
  }

  /**
   * Stores a new operation, or finds the operation that the request repeats. Throws when the repeat
   * differs.
   */
  private async findOrStore(
    kind: OperationKind,
    request: OperationRequest,
  ): Promise<StoredOperation> {
    const newOperation = this.buildOperation(kind, request);
    const identities = identitiesOf(request, newOperation.requestHash);
    for (let attempt = 1; attempt <= maxIdentityRaces; attempt += 1) {
      const stored = await this.database.transaction(async (tx) => {
        const repeated = await this.findRepeated(tx, newOperation, identities);
        if (repeated) return { isNew: false, operation: repeated, possibleDuplicateId: null };
        return this.store(tx, newOperation, request, identities);
      });
      if (stored) return stored;
    }
    throw new AppError('conflict', { public: 'An identical request is still in progress.' });
  }

  private buildOperation({ name: kind, route, repeat }: OperationKind, request: OperationRequest) {
    const { accountId, idempotencyKey, input, redactedBody, outgoing } = request;
    const params: unknown = z.encode(route.params, input.params as never);
    const query: unknown = z.encode(route.query, input.query as never);
    const id = newId();
    const bodyOf = (routeInput: RouteInput<Route>) =>
      redactedBody === undefined ? encodeBody(route, routeInput) : stringifyJson(redactedBody);
    const callerBody = bodyOf(input);
    const body = callerBody === null ? null : parseJson(callerBody);
    const requestBody = request.completeInput ? bodyOf(request.completeInput(id)) : callerBody;
    return {
      accountId,
      id,
      kind,
      idempotencyKey,
      requestHash: this.secretBox.hash('request', canonicalJson([kind, params, query, body])),
      requestParams: stringifyJson(params),
      requestQuery: stringifyJson(query),
      requestBody,
      counterparty: outgoing?.counterparty ?? null,
      amountCents: outgoing?.amountCents ?? null,
      isDistinguishable: outgoing?.isDistinguishable ?? false,
      hasExternalId: outgoing?.hasExternalId ?? false,
      isDetached: request.preferences.respondAsync && repeat !== 'never',
      effectiveFrom: request.effectiveFrom ?? null,
    };
  }

  /**
   * The operation that has one of the identities; null when there is none. Throws
   * `idempotency_key_reused` when its request was different, or when the identities belong to two
   * operations.
   */
  private async findRepeated(
    tx: Tx,
    newOperation: Pick<Operation, 'accountId' | 'id' | 'kind' | 'requestHash'>,
    identities: identity.NewIdentity[],
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
    const hadNoEffect = ['rejected', 'not_executed'].includes(operation.state);
    const claimed = identities.filter(({ isNatural }) => !isNatural || !hadNoEffect);
    await identity.claimIdentities(tx, operation, kind, claimed);
    return operation;
  }

  /**
   * Null when another request claimed an identity in between. The next attempt finds that request's
   * operation.
   */
  private async store(
    tx: Tx,
    newOperation: queries.NewOperation,
    request: OperationRequest,
    identities: identity.NewIdentity[],
  ): Promise<StoredOperation | null> {
    const { accountId, id, kind } = newOperation;
    await assertAccountLive(tx, accountId);
    await request.assertApplies?.(tx);
    if (!(await identity.claimIdentities(tx, newOperation, kind, identities))) {
      await identity.releaseIdentities(tx, newOperation);
      return null;
    }
    // Checked after the identities are claimed: a repeat of the same request is found by its
    // identity and is not a duplicate.
    const { allowDuplicate } = request.preferences;
    const possibleDuplicateId = await this.duplicates.findOrThrow(tx, newOperation, allowDuplicate);
    await queries.insertOperation(tx, newOperation, newOperation.isDetached ? 0 : sweepAfterMs);
    const owner = { accountId, operationId: id, kind };
    const ids = await recordExpectedPayments(tx, owner, request.expectedPayments);
    const assertNotLost = () => this.duplicates.assertNotLost(tx, newOperation, allowDuplicate);
    try {
      await request.record(tx, id, ids);
    } catch (error) {
      // A paid bill cannot be paid again, for example: if this request has paid it, say so.
      if (error instanceof AppError) await assertNotLost();
      throw error;
    }
    await assertNotLost();
    await request.preferences.claim?.(tx, id);
    const operation = await tx.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id } },
    });
    return { isNew: true, operation, possibleDuplicateId };
  }

  /**
   * A repeat gets the response to the first request. It waits up to `repeatWaitMs` for that
   * response.
   */
  private async replyToRepeat(
    { accountId, id }: Operation,
    { respondAsync }: RequestPreferences,
  ): Promise<Reply> {
    const until = respondAsync ? 0 : performance.now() + repeatWaitMs;
    for (;;) {
      const operation = await this.get(accountId, id);
      const hasEnded = isFinalOperationState(operation.state) || operation.state === 'unknown';
      if (hasEnded || performance.now() > until)
        return this.reply({ accountId, id }, { 'Idempotent-Replayed': 'true' });
      await sleepOutsideSlot(repeatPollMs);
    }
  }

  /** An operation whose caller gets no result is detached: an event reports its end. */
  private async reply(
    { accountId, id }: queries.OperationRef,
    headers: Record<string, string>,
    exactResponse: string | null = null,
  ): Promise<Reply> {
    const operation = await this.get(accountId, id);
    // The caller that sent the secrets gets the exact response; the stored response is redacted.
    if (exactResponse !== null)
      return this.toReply({ ...operation, responseBody: exactResponse }, headers);
    if (isFinalOperationState(operation.state) || operation.isDetached)
      return this.toReply(operation, headers);
    await this.database.prisma.operation.updateMany({
      where: { accountId, id, state: { in: ['received', 'sending', 'unknown'] } },
      data: { isDetached: true },
    });
    return this.toReply(await this.get(accountId, id), headers);
  }

  /** The bank's response, unchanged. While there is none, 202 with the operation. */
  private toReply(operation: Operation, headers: Record<string, string> = {}): Reply {
    const { resourcePath = '/v1/operations/' } = this.outcomes.kindOf(operation);
    if (operation.reason === 'never_sent')
      throw new AppError('bank_unreachable', {
        public: 'The bank could not be reached. The request was not sent.',
      });
    const allHeaders = { ...headers, [operationHeader]: operation.id };
    if (operation.responseStatus !== null && operation.responseBody !== null)
      return new Reply(operation.responseStatus, operation.responseBody, allHeaders);
    // The request was sent, and it is not sent again under this key.
    if (operation.responseStatus !== null && operation.bodiesDeletedAt !== null)
      throw conflict(
        'response_deleted',
        `The bank's response to operation ${operation.id} is no longer stored.`,
      );
    return new Reply(202, stringifyJson(z.encode(operationView, describeOperation(operation))), {
      ...allHeaders,
      Location: `${resourcePath}${operation.id}`,
    });
  }
}

function keyIdentity(idempotencyKey: string): string {
  return `key ${idempotencyKey}`;
}

function keyReused(): AppError {
  return new AppError('idempotency_key_reused', {
    public: 'The idempotency key or id was already used with a different request.',
  });
}

function identitiesOf(
  { idempotencyKey, naturalIdentity, joinsSameRequest }: OperationRequest,
  requestHash: string,
): identity.NewIdentity[] {
  const identities: identity.NewIdentity[] = [];
  const add = (identity: string, isNatural: boolean, isTemporary = false) =>
    identities.push({ identity, isNatural, isTemporary });
  if (idempotencyKey !== null) add(keyIdentity(idempotencyKey), false);
  if (naturalIdentity != null) add(naturalIdentity, true);
  if (joinsSameRequest && idempotencyKey === null) add(`request ${requestHash}`, true, true);
  return identities;
}
