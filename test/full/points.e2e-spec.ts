// Crash points in short form: a service reaches none that is not listed, it is killed at a few of
// them, and the auditor finds faults that are put in. `npm run chaos -- --points` kills it at all.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Dice } from '../chaos/dice.js';
import { audit } from '../chaos/points/audit.js';
import { runFault } from '../chaos/points/faults.js';
import { discover, isShared, killIn, killsAt, type CrashPoint } from '../chaos/points/kills.js';
import { mutants } from '../chaos/points/mutants.mjs';
import { listFailures, newPoints } from '../chaos/points/results.js';
import { formatPointsReport, runPoints } from '../chaos/points/run.js';
import { scenarioKinds } from '../chaos/points/scenario.js';
import { PointsWorld, type QueueName } from '../chaos/points/world.js';

interface Requested {
  seed: number;
  queue: QueueName;
  again: boolean;
  faults: boolean;
}

const requested = process.env.POINTS ? (JSON.parse(process.env.POINTS) as Requested) : null;
const progress = (message: string) => {
  if (requested) process.stdout.write(`• ${message}\n`);
};
const sampledFaults = ['a repeat gets a new key'];
const options = { seed: 1, queue: 'postgresql' as const, ...requested, progress };

if (requested && !requested.faults) killEverywhere();
else {
  if (!requested) killAtSample();
  findFaults(requested ? Object.keys(mutants) : sampledFaults);
}

function killEverywhere(): void {
  it('moves requested money once, wherever the service is killed', async () => {
    const report = await runPoints(options, requested?.again ?? false);
    process.stdout.write(`${formatPointsReport(report)}\n`);
    expect(report.findings).toEqual([]);
  }, 14_400_000);
}

function killAtSample(): void {
  let world: PointsWorld;
  let points: CrashPoint[];
  beforeAll(async () => {
    world = await PointsWorld.open(options.seed, options.queue);
    points = await discover(world);
  }, 180_000);
  afterAll(() => world.close());

  it('reaches no crash point that is not listed: npm run chaos -- --points', () => {
    expect(newPoints(points)).toEqual([]);
    expect(listFailures()).toEqual([]);
  });

  it('reaches points of every kind of work', () => {
    const reached = new Set(points.map(({ scenario }) => scenario));
    expect([...reached].sort()).toEqual([...scenarioKinds].sort());
  });

  it('moves requested money once, killed at points of keyed transfers', async () => {
    const dice = new Dice(options.seed);
    const own = points.filter((point) => point.scenario === 'by key' && !isShared(point));
    const kills = killsAt([dice.pick(own)]);
    const missed = await killIn(world, kills, progress);
    expect(missed.length).toBeLessThan(kills.length);
    expect(await audit(world)).toEqual([]);
  }, 180_000);
}

function findFaults(names: string[]): void {
  it.each(names)(
    'finds that %s',
    async (name) => {
      const { naming, others } = await runFault(name, options);
      for (const finding of naming) progress(finding);
      if (naming.length === 0) progress(`not found, but: ${others.join('\n')}`);
      expect(naming).not.toEqual([]);
    },
    600_000,
  );
}
