// Runs one round: starts the processes, sends requests under faults, waits until the service has
// finished, and checks the result.
import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrently } from '../support/payments.js';
import { until } from '../support/until.js';
import {
  canaries,
  chaosRequestKinds,
  newChaosRequest,
  type ChaosRequest,
  type ChaosRequestKind,
} from './chaos-request.js';
import { checkRound, isLeftToPerson, patternOf } from './check.js';
import { sendUntilConclusive, type SentRequest } from './client.js';
import { ChaosDeployment, repeatUntilEnded } from './deployment.js';
import { Dice } from './dice.js';
import { faultsForRound } from './faults.js';
import {
  listAll,
  readBankLedger,
  readFinalState,
  readSummary,
  type ListedOperation,
} from './final-state.js';
import { listUnservedKinds, receivePixPayments, requestInputs } from './request-inputs.js';
import { formatRoundReport } from './report.js';
import { commandOf, type Round } from './round.js';

export interface RoundOutcome {
  report: string;
  findings: string[];
}

type Progress = (message: string) => void;

/** How often each kind is requested, relative to the others. */
const weights: Record<ChaosRequestKind, number> = {
  ...{ charge: 3, 'static QR': 1, 'by key': 3, manual: 3, internal: 4 },
  ...{ batch: 2, bill: 2, refund: 4, customer: 1 },
};
const concurrency = 6;
/** Coprime to the sum of the weights, so that steps of this size reach each kind, well mixed. */
const stride = 7;

interface Workload {
  sent: SentRequest[];
  /** Findings about requests that could not be built or paid. */
  failures: string[];
}

export async function runRound(
  round: Round,
  settings: Record<string, string>,
  progress: Progress,
): Promise<RoundOutcome> {
  const startedAt = Date.now();
  const deployment = await ChaosDeployment.open(round.two ? 2 : 1, settings);
  try {
    const { service, bank } = deployment;
    const unserved = await listUnservedKinds(service);
    const pixCount = Math.ceil(round.requests / 20) + 1;
    const receivedPixes = await receivePixPayments(deployment, round.seed, pixCount);
    progress(`Seed ${round.seed}, faults ${round.fault}: sending ${round.requests} requests`);
    const { sent, failures } = await withFaults(deployment, round, () =>
      sendAll(deployment, round, receivedPixes, unserved, progress),
    );
    progress('The faults have ended. Waiting until all operations have finished');
    await waitUntilFinished(deployment, round.settleMs, settings);
    const state = await readFinalState(service, bank);
    const issued = await listChargesAtBank(deployment, sent);
    const { printed } = deployment;
    const leaks = await findLeaks(deployment);
    const recomputed = await deployment.listOutcomeDifferences();
    const findings = [
      ...recomputed.map((difference) => `recomputed otherwise: ${difference}`),
      ...unserved.map((kind) => `the service does not serve ${kind}`),
      ...failures,
      ...checkRound({ round, settings, sent, state, issued, printed, leaks }),
    ];
    const seconds = (Date.now() - startedAt) / 1_000;
    const command = commandOf(round, settings);
    return { report: formatRoundReport(sent, state, { findings, seconds, command }), findings };
  } finally {
    await deployment.close();
  }
}

/**
 * Does the work while the bank, the processes and the queue fail as the round states. All of them
 * run without faults when this resolves.
 */
async function withFaults<Result>(
  deployment: ChaosDeployment,
  round: Round,
  work: () => Promise<Result>,
): Promise<Result> {
  await deployment.injectFaults(faultsForRound(round.fault, round.seed));
  // A restarted bank has no faults. They get another seed, so that they occur at other calls.
  const restartBank = (restarts: number) =>
    deployment.killAndRestartBank(faultsForRound(round.fault, round.seed + restarts * 1_000));
  const disturbances = [
    ...(round.kill
      ? [repeatUntilEnded(2_500, (count) => deployment.killAndRestartService(count))]
      : []),
    ...(round.outage ? [repeatUntilEnded(10_000, (count) => restartBank(count + 1))] : []),
    ...(round.wipe ? [repeatUntilEnded(1_000, () => deployment.wipeQueue())] : []),
  ];
  try {
    return await work();
  } finally {
    for (const { end } of disturbances) await end();
    await deployment.bank.callBank('DELETE', '/sandbox/faults');
  }
}

async function sendAll(
  deployment: ChaosDeployment,
  { seed, requests }: Round,
  receivedPixes: string[],
  unserved: ChaosRequestKind[],
  progress: Progress,
): Promise<Workload> {
  const weightedKinds = chaosRequestKinds
    .filter((kind) => !unserved.includes(kind))
    .flatMap((kind) => Array.from({ length: weights[kind] }, () => kind));
  const workload: Workload = { sent: [], failures: [] };
  const indexes = Array.from({ length: requests }, (_, index) => index);
  await forEachConcurrently(indexes, concurrency, async (index) => {
    const dice = new Dice(seed, index);
    const kind =
      weightedKinds[(index * stride + seed) % weightedKinds.length] ?? dice.pick(weightedKinds);
    try {
      const inputs = requestInputs(deployment, dice, receivedPixes);
      const request = await newChaosRequest(kind, seed, index, dice, inputs);
      workload.sent.push(await sendUntilConclusive(deployment.services, request, dice));
      if (dice.chance(0.7)) await payAtBank(deployment, request);
    } catch (error) {
      workload.failures.push(`${kind} ${index} could not be sent or paid: ${String(error)}`);
    }
    const done = workload.sent.length + workload.failures.length;
    if (done % 50 === 0) progress(`${done} of ${requests} requests sent`);
  });
  return workload;
}

/**
 * A payer pays a charge or QR code, and repeats the payment while the bank is down. A missing
 * charge is no error: any response ends the wait. No fault affects these two calls.
 */
async function payAtBank(
  { bank }: ChaosDeployment,
  { kind, correlationId }: ChaosRequest,
): Promise<void> {
  if (kind === 'charge')
    await until('the charge is paid', () =>
      bank.callBank('POST', `/baas/v1/charges/${correlationId}/pay`),
    );
  if (kind === 'static QR')
    await until('the QR code is paid', () =>
      bank.callBank('POST', '/sandbox/pix/received', { correlationId }),
    );
}

/**
 * Waits until three readings in a row show that the service has finished everything and has all of
 * the bank's lines. After the timeout the checker reports what is unfinished. A webhook of which no
 * line comes stays pending for over a minute.
 */
export async function waitUntilFinished(
  deployment: ChaosDeployment,
  timeoutMs: number,
  settings: Record<string, string>,
  includesWebhooks = true,
): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  for (let finishedReadings = 0; finishedReadings < 3 && Date.now() < giveUpAt; await sleep(500)) {
    const { movements } = await readBankLedger(deployment.bank);
    const { operations, transactions, webhooks } = await readSummary(deployment.service);
    const unfinished = operations.sending + operations.unknown;
    const isFinished =
      (unfinished === 0 || unfinished === (await countLeftToPerson(deployment, settings))) &&
      transactions.pending === 0 &&
      (webhooks.pending === 0 || !includesWebhooks) &&
      transactions.total === movements.length;
    finishedReadings = isFinished ? finishedReadings + 1 : 0;
  }
}

async function countLeftToPerson(
  { service }: ChaosDeployment,
  settings: Record<string, string>,
): Promise<number> {
  const unknown = await listAll<ListedOperation>(service, '/v1/operations?state=unknown');
  return unknown.filter((operation) => isLeftToPerson(operation, settings)).length;
}

export async function listChargesAtBank(
  { bank }: ChaosDeployment,
  sent: SentRequest[],
): Promise<Set<string>> {
  const issued = new Set<string>();
  for (const { correlationId } of sent.map(({ request }) => request)) {
    if (!correlationId) continue;
    const { status } = await bank.callBank('GET', `/baas/v1/charges/${correlationId}`);
    if (status === 200) issued.add(correlationId);
  }
  return issued;
}

/** Finds secrets and personal data of onboardings in the tables of the service and its queue. */
async function findLeaks(deployment: ChaosDeployment): Promise<string[]> {
  const leaks: string[] = [];
  for (const [index, canary] of canaries.entries())
    for (const table of await deployment.listTablesContaining(patternOf(canary)))
      leaks.push(`table ${table} contains a canary of an onboarding (${index})`);
  return leaks;
}
