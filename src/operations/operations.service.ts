// The journal of outbound intents. An operation is committed with its key and exact bytes before the first
// byte leaves; a repeat finds it and is given its answer; an outcome that did not come is unknown, not failed.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { encodeBody } from '../bank/request.js';
import type { Route, RouteInput } from '../contract/route.js';
import { Database, type Tx } from '../database.service.js';
import { ExpectedPaymentsService } from '../expected-payments/expected-payments.service.js';
import { Reply } from '../platform/contract-route.js';
import { AppError, invariant } from '../platform/errors.js';
import { canonicalJson, parseJson, stringifyJson } from '../platform/exact-json.js';
import { SecretBox } from '../platform/secret-box.js';
import { JobQueue } from '../platform/job-queue.js';
import {
  isFinal,
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

/** The caller that accepted an operation sends it itself; the sweeper looks after this, in case it died. */
const firstLookMs = 5_000;
/** Identities that are taken and freed under our hands, this many times in a row. */
const maxRaces = 10;
/** How long after its end the same request, without a key, still is the same intent. */
const joinedForMs = 600_000;
/** How long a repeat waits for the answer of the request that it repeats. */
const repeatWaitMs = 12_000;

interface Accepted {
  isNew: boolean;
  operation: Operation;
  /** One that has just succeeded and that this may repeat, where that is only to be told. */
  lookalike: string | null;
}

@Injectable()
export class OperationsService {
  constructor(
    private readonly database: Database,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly secretBox: SecretBox,
    private readonly outcomes: OperationOutcomes,
    private readonly sender: OperationSender,
    private readonly duplicates: PossibleDuplicates,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Declares a kind; each room does so once, when it starts. */
  register<R extends Route>(kind: OperationKind<R>): void {
    this.outcomes.register(kind);
  }

  /**
   * Asks the bank once for an intent and answers as the bank did, or with 202 and the operation when its
   * answer does not come in time. A repeat is answered with the stored answer.
   */
  async perform<R extends Route>(kind: OperationKind<R>, intent: OperationRequest<R>): Promise<Reply> {
    const { accountId, preferences, redactedBody } = intent;
    // A kept body with its secrets left out must never be sent again.
    invariant(redactedBody === undefined || kind.repeat === 'never', `${kind.name} holds secrets`);
    const { operation, isNew, lookalike } = await this.accept(kind, intent);
    if (!isNew) return this.repeat(operation, preferences);
    const headers: Record<string, string> = lookalike
      ? { 'Possible-Duplicate': `/v1/operations/${lookalike}` }
      : {};
    if (preferences.respondAsync && kind.repeat !== 'never') {
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId: operation.id });
      return this.toReply(operation, { ...headers, 'Preference-Applied': 'respond-async' });
    }
    // Secrets are sent from memory, once; all else as it was committed.
    const secretBody = kind.repeat === 'never' ? encodeBody(kind.route, intent.input) : null;
    const exact = await this.sender.send(operation, 'received', secretBody);
    return this.answer({ accountId, id: operation.id }, headers, exact);
  }

  /**
   * The answer to what was asked for under this key before, for a room whose request is made anew each time (a transfer
   * by key begins with a look-up of its own). Null when nothing was. Throws when it was for another amount.
   */
  async replay(
    kind: Pick<OperationKind, 'name'>,
    { accountId, idempotencyKey }: { accountId: number; idempotencyKey: string },
    amountCents: bigint,
  ): Promise<Reply | null> {
    const known = await this.database.prisma.operationIdentity.findUnique({
      where: {
        accountId_kind_identity: {
          accountId,
          kind: kind.name,
          identity: keyIdentity(idempotencyKey),
        },
      },
    });
    if (!known) return null;
    const operation = await this.get(accountId, known.operationId);
    if (operation.amountCents !== amountCents) throw keyReused();
    return this.repeat(operation, noPreferences);
  }

  /** Throws `not_found`, also for another account's. */
  async get(accountId: number, id: string): Promise<Operation> {
    const operation = await this.database.prisma.operation.findUnique({
      where: { accountId_id: { accountId, id } },
    });
    if (!operation) throw new AppError('not_found');
    return operation as Operation;
  }

  /** Ends an operation whose end nobody knew by what another's answer shows. False when it had ended. */
  async endBy(
    tx: Tx,
    accountId: number,
    id: string,
    state: 'succeeded' | 'not_executed',
    reason: string,
  ): Promise<boolean> {
    return this.outcomes.endBy(tx, { accountId, id }, state, reason);
  }

  /** Commits the intent, or finds the operation that it repeats. Throws when the repeat differs. */
  private async accept(kind: OperationKind, intent: OperationRequest): Promise<Accepted> {
    const request = this.describeRequest(kind, intent);
    const identities = identitiesOf(intent, request.requestHash);
    for (let tries = 1; tries <= maxRaces; tries += 1) {
      const accepted = await this.database.transaction(async (tx) => {
        const known = await this.findKnown(tx, request, identities);
        if (known) return { isNew: false, operation: known, lookalike: null };
        return this.insert(tx, request, intent, identities);
      });
      if (accepted) return accepted;
    }
    throw new AppError('conflict', {
      public: 'The request is being made by others at this moment.',
    });
  }

  private describeRequest({ name: kind, route, repeat }: OperationKind, intent: OperationRequest) {
    const { accountId, idempotencyKey, input, redactedBody, outgoing } = intent;
    const params: unknown = z.encode(route.params, input.params as never);
    const query: unknown = z.encode(route.query, input.query as never);
    const id = uuidv7();
    const bodyOf = (one: RouteInput<Route>) =>
      redactedBody === undefined ? encodeBody(route, one) : stringifyJson(redactedBody);
    const asked = bodyOf(input);
    const body = asked === null ? null : parseJson(asked);
    const requestBody = intent.completeInput ? bodyOf(intent.completeInput(id)) : asked;
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
      isDetached: intent.preferences.respondAsync && repeat !== 'never',
      effectiveFrom: intent.effectiveFrom ?? null,
    };
  }

  /** The operation that one of the identities names. Throws when it was another request. */
  private async findKnown(
    tx: Tx,
    request: Pick<Operation, 'accountId' | 'id' | 'kind' | 'requestHash'>,
    identities: identity.Identity[],
  ): Promise<Operation | null> {
    const { accountId, kind } = request;
    await identity.freeOutlived(tx, accountId, kind, identities, joinedForMs);
    const found = await identity.findByIdentities(tx, accountId, kind, identities);
    const [first] = found;
    if (!first) return null;
    const operation = (await tx.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id: first.operationId } },
    })) as Operation;
    const isSame =
      operation.requestHash === request.requestHash &&
      found.every(({ operationId }) => operationId === first.operationId);
    if (!isSame) throw keyReused();
    // What an operation without effect was known by stays free for a mended request.
    const isFree = ['rejected', 'not_executed'].includes(operation.state);
    const lasting = identities.filter(({ isNatural }) => !isNatural || !isFree);
    await identity.takeIdentities(tx, operation, kind, lasting);
    return operation;
  }

  /** Null when another request took an identity in between: the next look finds it. */
  private async insert(
    tx: Tx,
    request: queries.NewOperation,
    intent: OperationRequest,
    identities: identity.Identity[],
  ): Promise<Accepted | null> {
    const { accountId, id, kind } = request;
    if (!(await identity.takeIdentities(tx, request, kind, identities))) {
      await identity.freeIdentities(tx, request);
      return null;
    }
    // After its identities are taken: what this repeats under one of them is no duplicate, but found.
    const { allowDuplicate } = intent.preferences;
    const lookalike = await this.duplicates.check(tx, request, allowDuplicate);
    const lookMs = request.isDetached ? 0 : firstLookMs;
    await queries.insertOperation(tx, request, lookMs);
    const expecting = { accountId, operationId: id, kind };
    const ids = await this.expectedPayments.record(tx, expecting, intent.expectedPayments);
    await intent.record(tx, id, ids);
    const operation = await tx.operation.findUniqueOrThrow({
      where: { accountId_id: { accountId, id } },
    });
    return { isNew: true, operation: operation as Operation, lookalike };
  }

  /** A repeat is given the answer of the request that it repeats, and waits for it a while. */
  private async repeat({ accountId, id }: Operation, { respondAsync }: RequestPreferences): Promise<Reply> {
    const until = respondAsync ? 0 : Date.now() + repeatWaitMs;
    for (;;) {
      const operation = await this.get(accountId, id);
      const isAnswered = isFinal(operation.state) || operation.state === 'unknown';
      if (isAnswered || Date.now() > until)
        return this.answer({ accountId, id }, { 'Idempotent-Replayed': 'true' });
      await sleep(100);
    }
  }

  /** Whoever goes without an answer is told of the end by an event. */
  private async answer(
    key: queries.Key,
    headers: Record<string, string>,
    exact: string | null = null,
  ): Promise<Reply> {
    const operation = await this.get(key.accountId, key.id);
    // Whoever showed the secrets is given the exact answer; what is kept, and told to repeats, has none of them.
    if (exact !== null) return this.toReply({ ...operation, responseBody: exact }, headers);
    if (isFinal(operation.state) || operation.isDetached) return this.toReply(operation, headers);
    await queries.detachUnended(this.database.prisma, key);
    return this.toReply(await this.get(key.accountId, key.id), headers);
  }

  /** The bank's own answer, to the letter; 202 with the operation while there is none. */
  private toReply(operation: Operation, headers: Record<string, string> = {}): Reply {
    const { place = '/v1/operations/' } = this.outcomes.kindOf(operation);
    if (operation.reason === 'never_sent')
      throw new AppError('bank_unreachable', {
        public: 'The bank could not be reached, and nothing was sent to it.',
      });
    const told = { ...headers, [operationHeader]: operation.id };
    if (operation.responseStatus !== null && operation.responseBody !== null)
      return new Reply(operation.responseStatus, operation.responseBody, told);
    return new Reply(202, stringifyJson(z.encode(operationView, describeOperation(operation))), {
      ...told,
      Location: `${place}${operation.id}`,
    });
  }
}

function keyIdentity(idempotencyKey: string): string {
  return `key ${idempotencyKey}`;
}

function keyReused(): AppError {
  return new AppError('idempotency_key_reused', {
    public: 'The same key or id came with another request.',
  });
}

function identitiesOf(
  { idempotencyKey, naturalIdentity, joinsSameRequest }: OperationRequest,
  requestHash: string,
): identity.Identity[] {
  const identities: identity.Identity[] = [];
  const add = (identity: string, isNatural: boolean, isTemporary = false) =>
    identities.push({ identity, isNatural, isTemporary });
  if (idempotencyKey !== null) add(keyIdentity(idempotencyKey), false);
  if (naturalIdentity !== null) add(naturalIdentity, true);
  if (joinsSameRequest && idempotencyKey === null) add(`request ${requestHash}`, true, true);
  return identities;
}
