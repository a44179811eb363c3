// A business system that gives no intent up: it repeats the same request under the same key until it is answered,
// sometimes several at once, sometimes once more after the answer.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ConciliaProcess } from '../support/concilia-process.js';
import type { Dice } from './dice.js';
import type { Intent } from './chaos-request.js';

/** What the client was told: done, refused, that it is under way, or nothing that it could rely on. */
export interface Told {
  outcome: 'accepted' | 'refused' | 'pending' | 'nothing';
  status: number | null;
  reason: string | null;
  body: unknown;
}

export interface Asked {
  intent: Intent;
  /** In the order of their coming. */
  told: Told[];
}

const patienceMs = 30_000;
/** Answers that say "again, later". */
const later = new Set([408, 409, 425, 429]);

export async function ask(
  services: ConciliaProcess[],
  intent: Intent,
  dice: Dice,
  giveUpAt = Date.now() + patienceMs,
): Promise<Asked> {
  const told: Told[] = [];
  const once = async (headers: Record<string, string> = {}) => {
    const answer = await tell(dice.pick(services), intent, headers);
    told.push(answer);
    return answer;
  };
  const isAsync = intent.kind !== 'customer' && dice.chance(0.15);
  const first: Record<string, string> = isAsync ? { Prefer: 'respond-async' } : {};
  for (let isAnswered = false; !isAnswered && Date.now() < giveUpAt;) {
    const copies = dice.chance(0.25) ? dice.integer(2, 4) : 1;
    const answers = await Promise.all(Array.from({ length: copies }, () => once(first)));
    isAnswered = answers.some(({ outcome }) => outcome !== 'nothing');
    if (!isAnswered) await sleep(dice.integer(100, 500));
  }
  if (dice.chance(0.3)) {
    await sleep(dice.integer(0, 1_500));
    await once();
  }
  return { intent, told };
}

async function tell(
  service: ConciliaProcess,
  { request }: Intent,
  headers: Record<string, string>,
): Promise<Told> {
  const { method, path, body } = request;
  try {
    const answer = await service.callService<Record<string, unknown> | null>(method, path, body, {
      ...request.headers,
      ...headers,
    });
    const { status } = answer;
    const reason = typeof answer.body?.code === 'string' ? answer.body.code : null;
    return { outcome: outcomeOf(status, reason), status, reason, body: answer.body };
  } catch (error) {
    return { outcome: 'nothing', status: null, reason: String(error), body: null };
  }
}

function outcomeOf(status: number, reason: string | null): Told['outcome'] {
  if (status === 202) return 'pending';
  if (status >= 200 && status < 300) return 'accepted';
  if (reason === 'possible_duplicate') return 'refused';
  return status >= 400 && status < 500 && !later.has(status) ? 'refused' : 'nothing';
}

/** Accepted answers of one intent that are not one and the same. */
export function contradictions({ intent, told }: Asked): string[] {
  const [first, ...others] = told.filter(({ outcome }) => outcome === 'accepted');
  if (!first) return [];
  return others
    .filter(({ body }) => !isDeepStrictEqual(body, first.body))
    .map(() => `${intent.kind} ${intent.key}: a repeat was answered otherwise than the first`);
}
