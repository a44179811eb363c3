// One round from its first process to its verdict.
import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrently } from '../support/payments.js';
import { until } from '../support/until.js';
import { listAll, readBooks, readLedger, readSummary, type ReportedOperation } from './books.js';
import { check, isLeftToPerson, patternOf } from './check.js';
import { ask, type Asked } from './client.js';
import { Dice } from './dice.js';
import { faultsOf } from './faults.js';
import { groundOf, receivePixes, unservedKinds } from './ground.js';
import { again, House } from './deployment.js';
import { canaries, intentKinds, newIntent, type Intent, type IntentKind } from './chaos-request.js';
import { tabulate } from './report.js';
import { commandOf, type Round } from './round.js';

export interface Outcome {
  table: string;
  findings: string[];
}

type Progress = (message: string) => void;

/** How often each kind is wanted, against the others. */
const weights: Record<IntentKind, number> = {
  ...{ charge: 3, 'static QR': 1, 'by key': 3, manual: 3, internal: 4 },
  ...{ batch: 2, bill: 2, refund: 4, customer: 1 },
};
const lanes = 6;
/** Prime to the number of weights: walking with it, each kind comes up in its turn, well mixed. */
const stride = 7;

interface Wanted {
  asked: Asked[];
  /** Intents that could not even be asked for. */
  failures: string[];
}

export async function runRound(
  round: Round,
  settings: Record<string, string>,
  progress: Progress,
): Promise<Outcome> {
  const startedAt = Date.now();
  const house = await House.open(round.two ? 2 : 1, settings);
  try {
    const unserved = await unservedKinds(house.service);
    const originals = await receivePixes(house, round.seed, Math.ceil(round.intents / 20) + 1);
    progress(`seed ${round.seed}, ${round.fault}: ${round.intents} intents`);
    const { asked, failures } = await underFaults(house, round, () =>
      wantAll(house, round, originals, unserved, progress),
    );
    progress('the faults have ended; waiting for everything to come to its end');
    await settle(house, round.settleMs, settings);
    const books = await readBooks(house.service, house.bank);
    const issued = await issuedAtBank(house, asked);
    const { printed } = house;
    const findings = [
      ...unserved.map((kind) => `NOT SERVED: ${kind}`),
      ...failures,
      ...check({ round, settings, asked, books, issued, printed, leaks: await leaksOf(house) }),
    ];
    const seconds = (Date.now() - startedAt) / 1_000;
    const command = commandOf(round, settings);
    return { table: tabulate(asked, books, { findings, seconds, command }), findings };
  } finally {
    await house.close();
  }
}

/** Does the work while the bank, the processes and the queue fail as the round says; ends with all of them well. */
async function underFaults<Result>(
  house: House,
  round: Round,
  work: () => Promise<Result>,
): Promise<Result> {
  await house.askForFaults(faultsOf(round.fault, round.seed));
  // Faults begin anew with the bank: from another seed, so that they do not strike as before.
  const restartBank = (time: number) =>
    house.killAndRestartBank(faultsOf(round.fault, round.seed + time * 1_000));
  const trouble = [
    ...(round.kill ? [again(2_500, (time) => house.killAndRestart(time))] : []),
    ...(round.outage ? [again(10_000, (time) => restartBank(time + 1))] : []),
    ...(round.wipe ? [again(1_000, () => house.wipeQueue())] : []),
  ];
  try {
    return await work();
  } finally {
    for (const { end } of trouble) await end();
    await house.bank.callBank('DELETE', '/sandbox/faults');
  }
}

async function wantAll(
  house: House,
  { seed, intents }: Round,
  originals: string[],
  unserved: IntentKind[],
  progress: Progress,
): Promise<Wanted> {
  const bag = intentKinds
    .filter((kind) => !unserved.includes(kind))
    .flatMap((kind) => Array.from({ length: weights[kind] }, () => kind));
  const wanted: Wanted = { asked: [], failures: [] };
  const places = Array.from({ length: intents }, (_, place) => place);
  await forEachConcurrently(places, lanes, async (place) => {
    const dice = new Dice(seed, place);
    const kind = bag[(place * stride + seed) % bag.length] ?? dice.pick(bag);
    try {
      const ground = groundOf(house, dice, originals);
      const intent = await newIntent(kind, seed, place, dice, ground);
      wanted.asked.push(await ask(house.services, intent, dice));
      if (dice.chance(0.7)) await payAtBank(house, intent);
    } catch (error) {
      wanted.failures.push(`${kind} ${place} could not be asked for: ${String(error)}`);
    }
    const done = wanted.asked.length + wanted.failures.length;
    if (done % 50 === 0) progress(`${done} of ${intents}`);
  });
  return wanted;
}

/** A payer pays, and again while the bank is away; one who finds no charge is told so. Faults spare both calls. */
async function payAtBank({ bank }: House, { kind, correlationId }: Intent): Promise<void> {
  if (kind === 'charge')
    await until('it is paid', () => bank.callBank('POST', `/baas/v1/charges/${correlationId}/pay`));
  if (kind === 'static QR')
    await until('it is paid', () => bank.callBank('POST', '/sandbox/pix/received', { correlationId }));
}

/** Waits until the service has come to an end with everything, and the bank to rest; the checker says what has not. */
async function settle(
  house: House,
  patienceMs: number,
  settings: Record<string, string>,
): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  for (let atRest = 0; atRest < 3 && Date.now() < giveUpAt; await sleep(500)) {
    const { movements } = await readLedger(house.bank);
    const { operations, transactions, webhooks } = await readSummary(house.service);
    const unended = operations.sending + operations.unknown;
    const isAtRest =
      (unended === 0 || unended === (await countLeft(house, settings))) &&
      transactions.pending === 0 &&
      webhooks.pending === 0 &&
      transactions.total === movements.length;
    atRest = isAtRest ? atRest + 1 : 0;
  }
}

async function countLeft({ service }: House, settings: Record<string, string>): Promise<number> {
  const unknown = await listAll<ReportedOperation>(service, '/v1/operations?state=unknown');
  return unknown.filter((operation) => isLeftToPerson(operation, settings)).length;
}

async function issuedAtBank({ bank }: House, asked: Asked[]): Promise<Set<string>> {
  const issued = new Set<string>();
  for (const { correlationId } of asked.map(({ intent }) => intent)) {
    if (!correlationId) continue;
    const { status } = await bank.callBank('GET', `/baas/v1/charges/${correlationId}`);
    if (status === 200) issued.add(correlationId);
  }
  return issued;
}

/** Secrets and personal data of the onboardings that the service's database or its queue kept. */
async function leaksOf(house: House): Promise<string[]> {
  const leaks: string[] = [];
  for (const [place, canary] of canaries.entries())
    for (const table of await house.tablesThatHold(patternOf(canary)))
      leaks.push(`${table} holds a canary of an onboarding (${place})`);
  return leaks;
}
