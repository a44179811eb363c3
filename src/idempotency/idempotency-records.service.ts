// IdempotencyKey for what is not an operation: the answer to a request is kept, sealed, and a repeat under its key
// is answered with it. A key is claimed before the work is done, so that it is done once however many ask at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Route, RouteInput, RouteOutput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { Reply } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { canonicalJson, parseJson, stringifyJson } from '../platform/exact-json.js';
import { SecretBox } from '../platform/secret-box.js';
import * as queries from './idempotency-records.queries.js';

/** Stands for an account where the operator asks. */
export const operatorId = 0;

export interface KeyedRequest<R extends Route> {
  accountId: number;
  route: R;
  /** As it was decoded, with its key; without one the work is simply done. */
  request: RouteInput<R>;
}

/** Longer than any such work lasts: past it, the process that claimed the key is gone. */
const goneAfterMs = 60_000;
const waitMs = 10_000;
const lookEveryMs = 50;

@Injectable()
export class IdempotencyRecords {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
  ) {}

  /**
   * Does `work` once for the request's key and answers a repeat as the first was. A failure keeps nothing: the
   * same key may try again. Throws `idempotency_key_reused` for another request, and `conflict` for a repeat
   * while the first is still being answered.
   */
  async once<R extends Route>(
    { accountId, route, request }: KeyedRequest<R>,
    work: () => Promise<RouteOutput<R> | Reply>,
  ): Promise<RouteOutput<R> | Reply> {
    const { idempotencyKey: key, params, query, body } = request;
    if (key === null) return work();
    const kept = { accountId, route: route.name, key };
    const written = canonicalJson(parseJson(stringifyJson([params, query, body])));
    const claimed = await this.claim(kept, this.secretBox.hash('kept-request', written));
    if (claimed instanceof Reply) return claimed;
    return this.answer(kept, claimed, route, work);
  }

  /** The claim's instant, or the answer that is kept. */
  private async claim(kept: queries.RecordKey, requestHash: string): Promise<Date | Reply> {
    const db = this.database.prisma;
    const giveUpAt = performance.now() + waitMs;
    do {
      const claimedAt =
        (await queries.claim(db, kept, requestHash)) ??
        (await queries.takeOver(db, kept, requestHash, goneAfterMs));
      if (claimedAt) return claimedAt;
      const found = await queries.find(db, kept);
      if (found && found.requestHash !== requestHash)
        throw new AppError('idempotency_key_reused', {
          public: 'The IdempotencyKey was used for another request.',
        });
      if (found?.status && found.body !== null)
        return new Reply(found.status, this.secretBox.open(found.body), {
          'Idempotent-Replayed': 'true',
        });
      await sleep(lookEveryMs);
    } while (performance.now() < giveUpAt);
    throw new AppError('conflict', {
      public: 'The request that this one repeats is still being answered.',
    });
  }

  private async answer<R extends Route>(
    kept: queries.RecordKey,
    claimedAt: Date,
    route: R,
    work: () => Promise<RouteOutput<R> | Reply>,
  ): Promise<Reply> {
    const db = this.database.prisma;
    let reply: Reply;
    try {
      reply = toReply(route, await work());
    } catch (error) {
      await queries.release(db, kept, claimedAt);
      throw error;
    }
    const { status, body } = reply;
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
    await queries.keep(db, kept, claimedAt, { status, body: this.secretBox.seal(text) });
    return reply;
  }
}

function toReply<R extends Route>(route: R, answer: RouteOutput<R> | Reply): Reply {
  if (answer instanceof Reply) return answer;
  return new Reply(route.successStatus, stringifyJson(z.encode(route.response, answer as never)));
}
