// What happens while a crash point is armed: requests of one kind, with a duplicate, a fault of the
// bank and a clock that is wrong as the dice decide; or payments that the service is not asked for.
import { forEachConcurrently } from '../../support/payments.js';
import type { Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import {
  chaosRequestKinds,
  newChaosRequest,
  type ChaosRequest,
  type ChaosRequestKind,
} from '../chaos-request.js';
import { sendUntilConclusive, type SentRequest } from '../client.js';
import type { ChaosDeployment } from '../deployment.js';
import type { Dice } from '../dice.js';
import { receivePixPayments, requestInputs } from '../request-inputs.js';

export const scenarioKinds = ['sync', 'reconcile', 'charge change', ...chaosRequestKinds] as const;
export type ScenarioKind = (typeof scenarioKinds)[number];

/** A deployment and what was requested of it. */
export interface World {
  deployment: ChaosDeployment;
  receiver: Receiver;
  seed: number;
  sent: SentRequest[];
  /** The endToEndIds of Pix payments that can be refunded. */
  received: string[];
  /** Of the next request. No two have the same, so that an amount can identify a movement. */
  index: number;
}

/** Longer than a service is killed again and again: it gets no response meanwhile. */
const clientPatienceMs = 1_200_000;

export async function prepareScenario(world: World, kind: ScenarioKind): Promise<void> {
  // The auditor expects a line.
  if (kind === 'customer') await receiveUnexpected(world);
  if (kind !== 'refund' || world.received.length > 0) return;
  world.received = await receivePixPayments(world.deployment, world.seed, 12);
}

/**
 * Resolves when every request has its response. What could not be requested at all, because the
 * service was killed again and again, moves no money.
 */
export async function runScenario(world: World, kind: ScenarioKind, dice: Dice): Promise<void> {
  await requestsOf(world, kind, dice).catch(() => undefined);
}

function requestsOf(world: World, kind: ScenarioKind, dice: Dice): Promise<void> {
  switch (kind) {
    case 'sync':
      return receiveMoney(world, dice);
    case 'reconcile':
      return reconcileNow(world);
    case 'charge change':
      return changeCharge(world, dice);
    default:
      return requestMoney(world, kind, dice);
  }
}

/**
 * One request as usual, one that asks for 202 at once, and one whose first response the bank loses:
 * the three ways to the bank.
 */
async function requestMoney(world: World, kind: ChaosRequestKind, dice: Dice): Promise<void> {
  const { deployment, seed } = world;
  const inputs = requestInputs(deployment, dice, world.received);
  const asyncHeaders: Record<string, string> =
    kind === 'customer' ? {} : { Prefer: 'respond-async' };
  const build = () => newChaosRequest(kind, seed, (world.index += 1), dice, inputs);
  const requests = [await build(), withHeaders(await build(), asyncHeaders), await build()];
  if (dice.chance(0.5)) await injectFault(world, 'transactions', 'line-withheld', 3_000);
  const lost = dice.pick(['error-after-effect', 'reset-after-effect', 'truncated', 'slow']);
  if (kind !== 'customer') await injectFault(world, endpoints[kind], lost, 300);
  await forEachConcurrently(requests, requests.length, async (request) => {
    await send(world, request, dice);
    await payAtBank(world, request);
  });
}

/** A fault that fires once. */
async function injectFault(
  { deployment: { bank } }: World,
  endpoint: string,
  kind: string,
  delayMs: number,
): Promise<void> {
  await bank.callBank('POST', '/sandbox/faults', { endpoint, kind, delayMs, times: 1 });
}

const endpoints: Record<ChaosRequestKind, string> = {
  ...{ charge: 'charges', 'static QR': 'qrcode', 'by key': 'transfers', manual: 'transfers' },
  ...{ internal: 'transfers', batch: 'batch', bill: 'bill-payments', refund: 'refunds' },
  customer: '*',
};

const withHeaders = (request: ChaosRequest, headers: Record<string, string>): ChaosRequest => ({
  ...request,
  http: { ...request.http, headers: { ...request.http.headers, ...headers } },
});

async function send(world: World, request: ChaosRequest, dice: Dice): Promise<void> {
  const giveUpAt = Date.now() + clientPatienceMs;
  const { services } = world.deployment;
  world.sent.push(await sendUntilConclusive(services, request, dice, giveUpAt));
}

async function payAtBank(
  { deployment: { bank } }: World,
  { kind, correlationId }: ChaosRequest,
): Promise<void> {
  if (correlationId === null) return;
  if (kind === 'charge') await bank.callBank('POST', `/baas/v1/charges/${correlationId}/pay`);
  else await bank.callBank('POST', '/sandbox/pix/received', { correlationId });
}

/** The payment of a charge, with its webhook twice, and one that nobody expects. */
async function receiveMoney(world: World, dice: Dice): Promise<void> {
  await injectFault(world, 'webhooks', dice.pick(['webhook-twice', 'webhook-late']), 1_000);
  const inputs = requestInputs(world.deployment, dice, []);
  const charge = await newChaosRequest('charge', world.seed, (world.index += 1), dice, inputs);
  await send(world, charge, dice);
  await payAtBank(world, charge);
  await receiveUnexpected(world);
}

/** One cent: the auditor knows that nobody expects it. */
async function receiveUnexpected({ deployment: { bank } }: World): Promise<void> {
  await bank.callBank('POST', '/sandbox/pix/received', { amount: 0.01 });
}

async function reconcileNow(world: World): Promise<void> {
  await receiveUnexpected(world);
  await until(
    'a reconciliation is requested',
    async () => {
      const run = await world.deployment.service.callService('POST', '/v1/reconciliations', {});
      return run.status === 202;
    },
    clientPatienceMs,
  );
}

/** A charge gets another due date and is then void. Nobody pays it. */
async function changeCharge(world: World, dice: Dice): Promise<void> {
  // Without any line, the service knows no balance.
  await receiveUnexpected(world);
  const inputs = requestInputs(world.deployment, dice, []);
  const build = () => newChaosRequest('charge', world.seed, (world.index += 1), dice, inputs);
  const charge = await build();
  const { key: correlationId } = charge;
  await send(world, charge, dice);
  await until(
    'the charge is created',
    async () => {
      const path = `/v1/charges/${correlationId}`;
      const { body } = await world.deployment.service.callService('GET', path);
      return body.operationState === 'succeeded';
    },
    clientPatienceMs,
  );
  const path = `/baas/v1/charges/${correlationId}`;
  for (const change of [
    { method: 'PATCH' as const, path, body: { dueDate: '2030-12-30' } },
    { method: 'POST' as const, path: `${path}/void`, body: undefined },
  ]) {
    const { key } = await build();
    const http = { ...change, headers: { IdempotencyKey: key } };
    await send(world, { kind: 'charge', key, http, movements: [], correlationId: null }, dice);
  }
}
