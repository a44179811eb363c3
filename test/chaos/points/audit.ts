// The auditor of crash points: what the bank's ledger shows, and what left the service (responses
// and events that were delivered), must agree.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { checkRound } from '../check.js';
import { readFinalState, type FinalState, type ListedEvent } from '../final-state.js';
import { planRounds } from '../round.js';
import { listChargesAtBank, waitUntilFinished } from '../run.js';
import type { Receiver } from '../../support/receiver.js';
import type { World } from './scenario.js';

/** Longer than an attempt of a killed process holds its operation, and two syncs behind it. */
const settleMs = 60_000;

/** The findings once the service has finished, or could have. */
export async function audit(world: World): Promise<string[]> {
  const { deployment, receiver, sent } = world;
  const { service, bank } = deployment;
  await waitUntilFinished(deployment, settleMs, {}, false);
  await waitUntilDelivered(world);
  const state = await readFinalState(service, bank);
  const issued = await listChargesAtBank(deployment, sent);
  const { printed } = deployment;
  return [
    ...planRounds({ fault: 'none', kill: true }).flatMap((round) =>
      checkRound({ round, settings: {}, sent, state, issued, printed, leaks: [] }),
    ),
    ...checkDeliveries(state, receiver),
  ];
}

async function waitUntilDelivered({ deployment: { service } }: World): Promise<void> {
  const giveUpAt = Date.now() + settleMs;
  while (Date.now() < giveUpAt) {
    const { body } = await service.callService<{ deliveries: { pending: number } }>(
      'GET',
      '/v1/summary',
    );
    if (body.deliveries.pending === 0) return;
    await sleep(200);
  }
}

/**
 * Each recorded event was delivered, with a valid signature and the same data each time, and none
 * says that an operation has failed after one has said that it succeeded.
 */
function checkDeliveries({ events }: FinalState, { events: received }: Receiver): string[] {
  const first = new Map(received.toReversed().map((event) => [event.webhookId, event]));
  const recorded = new Set(events.map(({ id }) => id));
  return [
    ...events
      .filter(({ id }) => !first.has(id))
      .map(({ id, type }) => `event ${id} (${type}) was not delivered`),
    ...received.flatMap(({ webhookId, type, data, isSigned }) => [
      ...(isSigned ? [] : [`event ${webhookId} (${type}): the signature is not valid`]),
      ...(recorded.has(webhookId) ? [] : [`event ${webhookId} (${type}) is not listed`]),
      ...(isDeepStrictEqual(data, first.get(webhookId)?.data)
        ? []
        : [`event ${webhookId} (${type}) was delivered with other data`]),
    ]),
    ...checkFinalEvents(events),
  ];
}

function checkFinalEvents(events: ListedEvent[]): string[] {
  const states = new Map<string, string[]>();
  for (const { type, data } of events) {
    const [, state] = /^operation\.(succeeded|rejected)$/.exec(type) ?? [];
    if (!state || !data.operationId) continue;
    states.set(data.operationId, [...(states.get(data.operationId) ?? []), state]);
  }
  return [...states]
    .filter(([, each]) => each.length > 1)
    .map(([id, each]) => `operation ${id} ended ${each.length} times: ${each.join()}`);
}
