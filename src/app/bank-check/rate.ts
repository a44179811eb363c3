// How many requests a second the bank takes of one account: many readings at once, and then about
// twice as many as it took, for some seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { readStatementPage } from '../../bank-contract/statement.js';
import type { BankClient } from './bank-client.js';
import { isSuccess, type RateObservation } from './observations.js';

/** A higher limit is not found out. */
export const mostAtOnce = 50;
/** An error of one request makes a quarter of a request a second. */
const windowMs = 4_000;
/** A bank that takes nothing for so long has shut the account out. */
const patienceMs = 5_000;

export async function observeRate(client: BankClient): Promise<RateObservation> {
  const ask = () => client.askAtOnce(readStatementPage, { query: { page: 1, limit: 1 } });
  // What was asked before must not count.
  await sleep(1_000);
  const first = await Promise.all(Array.from({ length: mostAtOnce }, ask));
  const refused = first.filter(({ status }) => status === 429).length;
  const taken = first.filter(isSuccess).length;
  if (refused === 0 || taken === 0) return { refused, accepted: 0, refusedInWindow: 0, windowMs };
  const acceptedAtMs: number[] = [];
  const refusedAtMs: number[] = [];
  const pending: Promise<void>[] = [];
  const beganAtMs = performance.now();
  // The window begins with the first request that is taken: the bank may count whole seconds.
  const endMs = () => (acceptedAtMs[0] ?? beganAtMs + patienceMs - windowMs) + windowMs;
  while (performance.now() < endMs()) {
    pending.push(
      ask().then((answer) => {
        if (isSuccess(answer)) acceptedAtMs.push(answer.startedAtMs);
        if (answer.status === 429) refusedAtMs.push(answer.startedAtMs);
      }),
    );
    await sleep(1_000 / (2 * taken));
  }
  await Promise.all(pending);
  const endedAtMs = endMs();
  const countIn = (times: readonly number[]) =>
    times.filter((atMs) => atMs >= endedAtMs - windowMs && atMs < endedAtMs).length;
  const accepted = countIn(acceptedAtMs);
  return { refused, accepted, refusedInWindow: countIn(refusedAtMs), windowMs };
}
