// Finds the crash points of each scenario, and kills the service at them.
import { Dice } from '../dice.js';
import { waitUntilFinished } from '../run.js';
import { audit } from './audit.js';
import { prepareScenario, runScenario, scenarioKinds, type ScenarioKind } from './scenario.js';
import { PointsWorld, type QueueName, type Side } from './world.js';

/** A point, with the scenario that reaches it. */
export interface CrashPoint {
  scenario: ScenarioKind;
  point: string;
}
export type Kill = CrashPoint & { side: Side };
export const killName = ({ scenario, side, point }: Kill) => `${side} ${scenario} › ${point}`;

export interface PointsOptions {
  seed: number;
  queue: QueueName;
  mutant?: string;
  progress: (message: string) => void;
}

const settleMs = 30_000;
const hour = 3_600_000;
/** What the clock of the process may be wrong by. */
const clockShiftsMs = [0, 0, hour, -hour, 24 * hour, -24 * hour];
/** How long a scenario takes to reach its points. */
const reachMs = 7_000;
/** Longer than a killed process holds its leases and operations, and jobs of timers wait. */
const maxMisses = 5;
const pointsOfWorld = 10;

/** The requests that only a scenario's own kind sends. */
const requests: Partial<Record<ScenarioKind, RegExp>> = {
  charge: /^POST \/baas\/v1\/charges ›/,
  'charge change': /^(?:PATCH|POST) \/baas\/v1\/charges\/\{id\}/,
  'static QR': /^POST .*\/qrcode\/static/,
  'by key': /^POST .*(?:\/payment-initialization|\/transfers) ›/,
  manual: /^POST \/baas\/api\/v2\/transfers ›/,
  internal: /^POST \/baas\/api\/v2\/transfers ›/,
  batch: /^POST .*\/batch ›/,
  bill: /^POST .*\/bill-payments ›/,
  refund: /^PUT .*\/refund ›/,
  customer: /^POST \/v1\/customers ›/,
  reconcile: /^POST \/v1\/reconciliations ›/,
};

/** A point that is the same whatever kind of request causes it. */
const shared = /^POST \/webhooks|^job (?!advance-operation)|^job advance-operation .*› write/;
export const isShared = ({ point }: Pick<CrashPoint, 'point'>): boolean => shared.test(point);

/**
 * The crash points among what a scenario reached. A start and its timers, and the counters of rate
 * limits, are of no flow of money. A request counts for its kind, and so do the calls and commits
 * of the job that advances an operation; the journal's other writes know no kind.
 */
function pointsOf(scenario: ScenarioKind, reached: string[]): CrashPoint[] {
  const isOfKind = (point: string) =>
    point.startsWith('job ')
      ? scenario !== 'sync' && scenario !== 'reconcile'
      : requests[scenario]?.test(point);
  return reached
    .filter((point) => !point.endsWith('write rate_limit'))
    .filter((point) => isShared({ point }) || isOfKind(point))
    .map((point) => ({ scenario, point }));
}

/** Adds what is not known yet. A shared point counts for the first scenario that reached it. */
export function addPoints(known: CrashPoint[], found: CrashPoint[]): CrashPoint[] {
  const keyOf = (one: CrashPoint) => (isShared(one) ? '' : `${one.scenario} › `) + one.point;
  const keys = new Set(known.map(keyOf));
  return [...known, ...found.filter((one) => !keys.has(keyOf(one)))];
}

/** Runs each scenario once. Returns the points that it reached. */
export async function discover(world: PointsWorld): Promise<CrashPoint[]> {
  let points: CrashPoint[] = [];
  for (const [index, scenario] of scenarioKinds.entries()) {
    await prepareScenario(world, scenario);
    world.takeReached();
    await runScenario(world, scenario, new Dice(world.seed, index));
    await waitUntilFinished(world.deployment, settleMs, {}, false);
    points = addPoints(points, pointsOf(scenario, world.takeReached()));
  }
  return points;
}

export interface KillResults {
  /** The findings of the audit after all kills. */
  findings: string[];
  missed: Kill[];
  /** Points that were reached on the way. */
  found: CrashPoint[];
}

/** Opens a service, kills it at each point, which are all of one scenario, and audits it. */
export async function killAtEach(kills: Kill[], options: PointsOptions): Promise<KillResults> {
  const { seed, queue, mutant, progress } = options;
  const world = await PointsWorld.open(seed, queue, mutant);
  try {
    const [first] = kills;
    if (first) await prepareScenario(world, first.scenario);
    world.takeReached();
    const missed = await killIn(world, kills, progress);
    const findings = await audit(world);
    const found = first ? pointsOf(first.scenario, world.takeReached()) : [];
    return { findings, missed, found };
  } finally {
    await world.close();
  }
}

/**
 * Kills the service at each point, in the order in which it reaches them, while the work that
 * earlier kills have left goes on. Returns the kills whose point was not reached.
 */
export async function killIn(
  world: PointsWorld,
  kills: Kill[],
  progress: PointsOptions['progress'],
): Promise<Kill[]> {
  const running: Promise<void>[] = [];
  const left = new Map(kills.map((kill) => [`${kill.side} ${kill.point}`, kill]));
  const [scenario] = kills.map((kill) => kill.scenario);
  for (let runs = 0, misses = 0; scenario && left.size > 0 && misses < maxMisses; runs += 1) {
    const dice = new Dice(world.seed, runs);
    world.shiftClock(dice.pick(clockShiftsMs));
    running.push(runScenario(world, scenario, dice));
    const killed = await world.killAtFirst([...left.keys()], reachMs);
    misses = killed === null ? misses + 1 : 0;
    if (killed !== null) left.delete(killed);
    progress(`${scenario}: ${killed ?? 'no kill'}, ${left.size} left`);
  }
  world.shiftClock(0);
  await world.deployment.bank.callBank('DELETE', '/sandbox/faults');
  await Promise.all(running);
  return [...left.values()];
}

/** Both kills of each point. */
export const killsAt = (points: CrashPoint[]): Kill[] =>
  points.flatMap((point) => (['before', 'after'] as const).map((side) => ({ ...point, side })));

/** The points of each scenario in lists of as many as one service gets. */
export function inWorlds(points: CrashPoint[]): CrashPoint[][] {
  return scenarioKinds.flatMap((scenario) => {
    const own = points.filter((point) => point.scenario === scenario);
    const count = Math.ceil(own.length / pointsOfWorld);
    return Array.from({ length: count }, (_, world) =>
      own.filter((_, index) => index % count === world),
    );
  });
}
