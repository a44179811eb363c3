// Makes repeats safe for requests that are not operations. The response is stored encrypted, and a
// repeat with the same IdempotencyKey is answered with it. The key is claimed before the work is
// done, so that concurrent repeats do the work once.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Route, RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Reply } from '../../platform/http/contract-route.js';
import { AppError, conflict } from '../../platform/errors.js';
import { canonicalJson, parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { sleepOutsideSlot } from '../../platform/limits/request-slots.service.js';
import { SecretBox } from '../../platform/secret-box.js';
import { ownerOfResponse } from './encrypted-responses.queries.js';
import * as queries from './idempotency.queries.js';
import { RequestSteps } from './request-steps.service.js';

/** The account id in the idempotency record of a request that the operator makes. */
export const operatorAccountId = 0;

export interface KeyedRequest<R extends Route> {
  accountId: number;
  route: R;
  /** The decoded request with its idempotency key; without a key nothing is stored. */
  request: RouteInput<R>;
}

/**
 * Longer than any such work, or one of its steps, lasts. After this time, the process that claimed
 * the key has ended or is suspended.
 */
const leaseMs = 60_000;
const maxWaitMs = 10_000;
const waitIntervalMs = 50;

@Injectable()
export class IdempotencyService {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * Runs `work` once for the request's key; a repeat gets the response of the first request. A
   * request that failed before its first step stores nothing, so that the same key can be used
   * again. Throws `idempotency_key_reused` for another request under the same key, and `conflict`
   * for a repeat while the first request is still in progress, or after its response was deleted.
   */
  async runOnce<R extends Route>(
    { accountId, route, request }: KeyedRequest<R>,
    work: (steps: RequestSteps) => Promise<RouteOutput<R> | Reply>,
  ): Promise<RouteOutput<R> | Reply> {
    const { idempotencyKey: key, params, query, body } = request;
    if (key === null) return work(new RequestSteps(this.database, null, leaseMs));
    const recordKey = { accountId, route: route.name, key };
    const canonical = canonicalJson(parseJson(stringifyJson([params, query, body])));
    const requestHash = this.secretBox.hash('idempotent-request', canonical);
    const claim = await this.claimOrReplay(recordKey, requestHash);
    if (claim instanceof Reply) return claim;
    return this.runAndStore({ ...recordKey, claim }, route, work);
  }

  /** The claim, or the stored response. */
  private async claimOrReplay(
    recordKey: queries.RecordKey,
    requestHash: string,
  ): Promise<string | Reply> {
    const db = this.database.prisma;
    const waitUntil = performance.now() + maxWaitMs;
    do {
      const claim = await queries.claimKey(db, recordKey, requestHash, leaseMs);
      if (claim) return claim;
      const record = await db.idempotencyRecord.findUnique({
        where: { accountId_route_key: recordKey },
      });
      if (record && record.requestHash !== requestHash)
        throw new AppError('idempotency_key_reused', {
          public: 'The IdempotencyKey was used for another request: use a new key.',
        });
      if (record?.status) return this.replyAgain(recordKey, record.status, record.body);
      // The first request must not wait for the slots of its repeats.
      await sleepOutsideSlot(waitIntervalMs);
    } while (performance.now() < waitUntil);
    throw conflict('request_in_progress', 'An identical request is still in progress.');
  }

  /** The stored response. Once it was deleted, `conflict`: the request is not done again. */
  private replyAgain(recordKey: queries.RecordKey, status: number, body: string | null): Reply {
    if (body === null)
      throw conflict(
        'response_deleted',
        'The request with this IdempotencyKey was done. Its response is no longer stored.',
      );
    const text = this.secretBox.decrypt(body, ownerOfResponse(recordKey));
    return new Reply(status, text, { 'Idempotent-Replayed': 'true' });
  }

  private async runAndStore<R extends Route>(
    claimed: queries.ClaimedKey,
    route: R,
    work: (steps: RequestSteps) => Promise<RouteOutput<R> | Reply>,
  ): Promise<Reply> {
    const { prisma } = this.database;
    let reply: Reply;
    try {
      reply = toReply(route, await work(new RequestSteps(this.database, claimed, leaseMs)));
    } catch (error) {
      await queries.releaseClaim(prisma, claimed);
      throw error;
    }
    const { status, body } = reply;
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
    const data = { status, body: this.secretBox.encrypt(text, ownerOfResponse(claimed)) };
    // Matches nothing once another request has taken over the claim.
    await prisma.idempotencyRecord.updateMany({ where: { ...claimed, status: null }, data });
    return reply;
  }
}

function toReply<R extends Route>(route: R, result: RouteOutput<R> | Reply): Reply {
  if (result instanceof Reply) return result;
  return new Reply(route.successStatus, stringifyJson(z.encode(route.response, result)));
}
