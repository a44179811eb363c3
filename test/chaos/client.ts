// A business system that repeats each request under the same key until it gets a conclusive
// response. It sometimes sends several copies at once, and sometimes one more after the response.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ConciliaProcess } from '../support/concilia-process.js';
import type { ChaosRequest } from './chaos-request.js';
import type { Dice } from './dice.js';

export interface ClientResponse {
  /** `pending` is HTTP 202. `inconclusive` is no response, or one that asks for a repeat. */
  outcome: 'accepted' | 'refused' | 'pending' | 'inconclusive';
  status: number | null;
  reason: string | null;
  body: unknown;
}

export interface SentRequest {
  request: ChaosRequest;
  /** In the order in which they arrived. */
  responses: ClientResponse[];
}

const clientTimeoutMs = 30_000;
/** Statuses after which the client repeats the request. */
const retryableStatuses = new Set([408, 409, 425, 429]);

export async function sendUntilConclusive(
  services: ConciliaProcess[],
  request: ChaosRequest,
  dice: Dice,
  giveUpAt = Date.now() + clientTimeoutMs,
): Promise<SentRequest> {
  const responses: ClientResponse[] = [];
  const send = async (headers: Record<string, string> = {}) => {
    const response = await sendOnce(dice.pick(services), request, headers);
    responses.push(response);
    return response;
  };
  const isAsync = request.kind !== 'customer' && dice.chance(0.15);
  const headers: Record<string, string> = isAsync ? { Prefer: 'respond-async' } : {};
  for (let isConclusive = false; !isConclusive && Date.now() < giveUpAt;) {
    const copies = dice.chance(0.25) ? dice.integer(2, 4) : 1;
    const received = await Promise.all(Array.from({ length: copies }, () => send(headers)));
    isConclusive = received.some(({ outcome }) => outcome !== 'inconclusive');
    if (!isConclusive) await sleep(dice.integer(100, 500));
  }
  if (dice.chance(0.3)) {
    await sleep(dice.integer(0, 1_500));
    await send();
  }
  return { request, responses };
}

async function sendOnce(
  service: ConciliaProcess,
  { http }: ChaosRequest,
  headers: Record<string, string>,
): Promise<ClientResponse> {
  const { method, path, body } = http;
  try {
    const response = await service.callService<Record<string, unknown> | null>(method, path, body, {
      ...http.headers,
      ...headers,
    });
    const { status } = response;
    const reason = typeof response.body?.code === 'string' ? response.body.code : null;
    return { outcome: outcomeOf(status, reason), status, reason, body: response.body };
  } catch (error) {
    return { outcome: 'inconclusive', status: null, reason: String(error), body: null };
  }
}

function outcomeOf(status: number, reason: string | null): ClientResponse['outcome'] {
  if (status === 202) return 'pending';
  if (status >= 200 && status < 300) return 'accepted';
  if (reason === 'possible_duplicate') return 'refused';
  const isRefusal = status >= 400 && status < 500 && !retryableStatuses.has(status);
  return isRefusal ? 'refused' : 'inconclusive';
}

/** A finding for each accepted response that differs from the first accepted one. */
export function checkRepeatedResponses({ request, responses }: SentRequest): string[] {
  const [first, ...others] = responses.filter(({ outcome }) => outcome === 'accepted');
  if (!first) return [];
  return others
    .filter(({ body }) => !isDeepStrictEqual(body, first.body))
    .map(() => `${request.kind} ${request.key}: a repeat got another response than the first`);
}
