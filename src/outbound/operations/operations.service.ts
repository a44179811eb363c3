// The journal of outbound requests. An operation is committed with its key and exact bytes before
// the first byte is sent. A repeat finds the operation and gets its response. An operation without
// a response is unknown, not failed.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { encodeBody, encodeJsonBody } from '../../bank/request-encoding.js';
import type { Route } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { isFinalState } from '../operation-states.js';
import { Reply } from '../../platform/http/contract-route.js';
import { errorContentType } from '../../platform/http/error.filter.js';
import { AppError, conflict, invariant } from '../../platform/errors.js';
import { canonicalJson, isJsonObject, stringifyJson } from '../../platform/json/exact-json.js';
import { sleepOutsideSlot, waitOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { newId } from '../../platform/ids.js';
import { currentTraceparent } from '../../platform/trace.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import { withMetadata } from './response-metadata.js';
import {
  noPreferences,
  operationHeader,
  type OperationRequest,
  type Operation,
  type OperationKind,
  type RequestPreferences,
} from './operation.js';
import type { NewIdentity } from './identities.queries.js';
import { markedId } from './installation-mark.js';
import { OperationSender, type SentResponse } from './operation-sender.service.js';
import { keyReused, OperationStorage, type NewRequest } from './operation-storage.service.js';
import { OperationOutcomes } from './operation-outcomes.service.js';
import type { NewOperation, OperationRef } from './operations.queries.js';
import { pendingText } from './operations.schema.js';

/** How long a repeat waits for the response to the first request. */
const repeatWaitMs = 12_000;
const repeatPollMs = 100;

@Injectable()
export class OperationsService {
  private readonly installations = new Map<number, Promise<string>>();

  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly outcomes: OperationOutcomes,
    private readonly sender: OperationSender,
    private readonly storage: OperationStorage,
    @InjectQueue(jobs.advanceOperation.name)
    private readonly advanceOperationQueue: JobQueue<'advanceOperation'>,
  ) {}

  /** Registers a kind; each feature module does so once, when it starts. */
  register<R extends Route>(kind: OperationKind<R>): void {
    this.outcomes.register(kind);
  }

  /** Read once: it changes only while no process runs. */
  installationOf(accountId: number): Promise<string> {
    const known = this.installations.get(accountId);
    if (known) return known;
    const read = this.database.prisma.bankAccount
      .findUniqueOrThrow({ where: { id: accountId }, select: { installation: true } })
      .then(({ installation }) => installation);
    this.installations.set(accountId, read);
    read.catch(() => this.installations.delete(accountId));
    return read;
  }

  /**
   * Sends a request to the bank once and replies with the bank's response, or with 202 and the
   * operation when no response comes in time. A repeat gets the stored response.
   */
  async perform<R extends Route>(
    kind: OperationKind<R>,
    request: OperationRequest<R>,
  ): Promise<Reply> {
    const { accountId, preferences, redactedBody, metadata = [] } = request;
    // A body that is stored without its secrets must never be resent.
    invariant(redactedBody === undefined || kind.repeat === 'never', `${kind.name} holds secrets`);
    const newRequest = this.newRequest(kind, request, await this.installationOf(accountId));
    const stored = await this.storage.findOrStore(newRequest);
    if (stored.outcome === 'repeated')
      return this.replyToRepeat(stored.operation, preferences, metadata);
    if (stored.outcome === 'claimed') {
      const { operation } = newRequest;
      const input = request.completeInput?.(operation.id) ?? request.input;
      // One wait: between the bank's response and its record, there is no work for a slot.
      const response = await waitOutsideSlot(() =>
        this.sender.sendClaimed(operation, input, stored),
      );
      return this.reply(operation, {}, { response, metadata });
    }
    const { operation, possibleDuplicateId } = stored;
    const headers: Record<string, string> = possibleDuplicateId
      ? { 'Possible-Duplicate': `/v1/operations/${possibleDuplicateId}` }
      : {};
    if (operation.state !== 'received') return this.toReply(operation, headers, metadata);
    if (preferences.respondAsync && kind.repeat !== 'never') {
      await this.advanceOperationQueue.enqueue({ accountId, operationId: operation.id });
      const applied = { ...headers, 'Preference-Applied': 'respond-async' };
      return this.toReply(operation, applied, metadata);
    }
    // Secrets are sent from memory, once; everything else is sent as it was committed.
    const secretBody = kind.repeat === 'never' ? encodeBody(kind.route, request.input) : null;
    const response = await this.sender.send(operation, 'received', secretBody);
    return this.reply(operation, headers, { response, metadata });
  }

  /**
   * The reply to an earlier request with this key, for a module that builds each request anew (a
   * transfer by key begins with a key look-up). Null when there was no earlier request. Throws
   * `idempotency_key_reused` when the earlier request differs in anything. Only for routes without
   * parameters.
   */
  async replay(
    { name }: Pick<OperationKind, 'name'>,
    { accountId, idempotencyKey }: { accountId: number; idempotencyKey: string },
    comparedBody: unknown,
  ): Promise<Reply | null> {
    const key = { accountId, kind: name, identity: keyIdentity(idempotencyKey) };
    const known = await this.database.prisma.operationIdentity.findUnique({
      where: { accountId_kind_identity: key },
    });
    if (!known) return null;
    const operation = await this.get(accountId, known.operationId);
    if (operation.requestHash !== this.hashOf([name, {}, {}, comparedBody])) throw keyReused();
    return this.replyToRepeat(operation, noPreferences);
  }

  /** The reply to a repeat of the request that made this operation. */
  async replyAgain(ref: OperationRef): Promise<Reply> {
    return this.replyToRepeat(await this.get(ref.accountId, ref.id), noPreferences);
  }

  /** What the 202 of an operation whose response never came shows of one of its items. */
  pendingText(operation: Operation, item: number): string {
    return pendingText(this.outcomes.kindOf(operation), operation, [], item);
  }

  /** Throws `not_found`, also for an operation of another account. */
  async get(accountId: number, id: string): Promise<Operation> {
    const operation = await this.database.prisma.operation.findUnique({
      where: { accountId_id: { accountId, id } },
    });
    if (!operation) throw new AppError('not_found');
    return operation;
  }

  private newRequest(
    kind: OperationKind,
    request: OperationRequest,
    installation: string,
  ): NewRequest {
    const operation = this.newOperation(kind, request, installation);
    const identities = identitiesOf(request, operation.requestHash);
    return { kind, request, operation, identities };
  }

  private newOperation(
    { name: kind, route, repeat }: OperationKind,
    request: OperationRequest,
    installation: string,
  ): NewOperation {
    const { accountId, idempotencyKey, input, redactedBody, outgoing } = request;
    const { comparedBody } = request;
    const { requestedBy } = request.preferences;
    const params: unknown = z.encode(route.params, input.params as never);
    const query: unknown = z.encode(route.query, input.query as never);
    // It is the key at the bank too.
    const id = markedId(newId(), installation);
    const body = redactedBody === undefined ? encodeJsonBody(route, input) : redactedBody;
    const completed = request.completeInput?.(id) ?? input;
    // Most completed inputs are the caller's own.
    const sentBody = completed.body === input.body ? body : encodeJsonBody(route, completed);
    const requestBody = sentBody === null ? null : stringifyJson(sentBody);
    const { metadata = [] } = request;
    const hasMetadata = metadata.some((one) => one !== null);
    const canonical =
      comparedBody === undefined
        ? [kind, params, query, body, ...(hasMetadata ? [metadata] : [])]
        : [kind, params, query, comparedBody];
    const externalIds = outgoing ? externalIdsIn(comparedBody ?? body) : [];
    return {
      accountId,
      id,
      kind,
      idempotencyKey,
      requestHash: this.hashOf(canonical),
      requestParams: stringifyJson(params),
      requestQuery: stringifyJson(query),
      requestBody,
      counterparty: outgoing?.counterparty ?? null,
      amountCents: outgoing?.amountCents ?? null,
      isDistinguishable: outgoing?.isDistinguishable ?? false,
      externalIdHash: externalIds.length === 0 ? null : this.hashOf(['externalIds', externalIds]),
      traceparent: currentTraceparent(),
      isDetached: request.preferences.respondAsync && repeat !== 'never',
      effectiveFrom: request.effectiveFrom ?? null,
      source: requestedBy.source,
      requestedBy: requestedBy.actor,
    };
  }

  /** Keyed hash of a canonical request. */
  private hashOf(request: unknown[]): string {
    return this.secretBox.hash('request', canonicalJson(request));
  }

  /**
   * A repeat gets the response to the first request. It waits up to `repeatWaitMs` for that
   * response.
   */
  private async replyToRepeat(
    { accountId, id }: Operation,
    { respondAsync }: RequestPreferences,
    metadata: RequestMetadata = [],
  ): Promise<Reply> {
    const until = respondAsync ? 0 : performance.now() + repeatWaitMs;
    for (;;) {
      const operation = await this.get(accountId, id);
      const { state } = operation;
      const isSlow = state === 'unknown' || state === 'awaiting_approval';
      if (isSlow || isFinalState(state) || performance.now() > until)
        return this.reply({ accountId, id }, { 'Idempotent-Replayed': 'true' }, { metadata });
      await sleepOutsideSlot(repeatPollMs);
    }
  }

  /**
   * The bank's response, where it was recorded. An operation whose caller gets no result is
   * detached: an event reports its end.
   */
  private async reply(
    { accountId, id }: OperationRef,
    headers: Record<string, string>,
    { response = null, metadata }: { response?: SentResponse | null; metadata: RequestMetadata },
  ): Promise<Reply> {
    // The caller that sent secrets gets the exact response; the stored response is redacted.
    if (response) return bankReply(id, response, { headers, metadata });
    const operation = await this.get(accountId, id);
    if (isFinalState(operation.state) || operation.isDetached)
      return this.toReply(operation, headers, metadata);
    await this.database.prisma.operation.updateMany({
      where: { accountId, id, state: { in: ['received', 'sending', 'unknown'] } },
      data: { isDetached: true },
    });
    return this.toReply(await this.get(accountId, id), headers, metadata);
  }

  /** The bank's response with the metadata. While there is none, 202 with the operation. */
  private toReply(
    operation: Operation,
    headers: Record<string, string>,
    metadata: RequestMetadata,
  ): Reply {
    const { resourcePath = '/v1/operations/' } = this.outcomes.kindOf(operation);
    if (operation.reason === 'never_sent')
      throw new AppError('bank_unreachable', {
        public: 'The bank could not be reached. The request was not sent.',
      });
    const { responseStatus: status, responseBody: text } = operation;
    if (status !== null && text !== null)
      return bankReply(operation.id, { status, text }, { headers, metadata });
    // The request was sent, and it is not sent again under this key.
    if (status !== null && operation.bodiesDeletedAt !== null)
      throw conflict(
        'response_deleted',
        `The bank's response to operation ${operation.id} is no longer stored.`,
      );
    return new Reply(202, pendingText(this.outcomes.kindOf(operation), operation, metadata), {
      ...headers,
      [operationHeader]: operation.id,
      Location: `${resourcePath}${operation.id}`,
    });
  }
}

type RequestMetadata = readonly (Metadata | null)[];

function keyIdentity(idempotencyKey: string): string {
  return `key ${idempotencyKey}`;
}

function bankReply(
  id: string,
  { status, text }: SentResponse,
  { headers, metadata }: { headers: Record<string, string>; metadata: RequestMetadata },
): Reply {
  const named = { [operationHeader]: id, ...headers };
  return status < 300
    ? new Reply(status, withMetadata(text, metadata), named)
    : new Reply(status, text, { ...named, 'content-type': errorContentType });
}

function identitiesOf(
  { idempotencyKey, naturalIdentity, joinsSameRequest }: OperationRequest,
  requestHash: string,
): NewIdentity[] {
  const identities: NewIdentity[] = [];
  const add = (identity: string, isNatural: boolean, isTemporary = false) =>
    identities.push({ identity, isNatural, isTemporary });
  if (idempotencyKey !== null) add(keyIdentity(idempotencyKey), false);
  if (naturalIdentity != null) add(naturalIdentity, true);
  if (joinsSameRequest && idempotencyKey === null) add(`request ${requestHash}`, true, true);
  return identities;
}

/** The externalIds that the client chose, of one payment or of the payments of a batch. */
function externalIdsIn(body: unknown): string[] {
  const ids = [body].flat().map((payment) => (isJsonObject(payment) ? payment.externalId : null));
  return ids.filter((id) => typeof id === 'string' && id !== '').sort() as string[];
}
