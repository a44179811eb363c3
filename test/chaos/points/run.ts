// `npm run chaos -- --points`: kills the service at each crash point that has no result yet, and
// records the results in points.json.
import { forEachConcurrently } from '../../support/payments.js';
import {
  discover,
  inWorlds,
  killAtEach,
  killName,
  killsAt,
  type CrashPoint,
  type PointsOptions,
} from './kills.js';
import { listOpenPoints, listPoints, newPoints, record, resultPassed } from './results.js';
import { PointsWorld } from './world.js';

/** Most of the time of a world is waiting. */
const worldsAtOnce = 3;

export interface PointsReport {
  points: number;
  kills: number;
  findings: string[];
  missed: string[];
  seconds: number;
}

export async function runPoints(options: PointsOptions, again: boolean): Promise<PointsReport> {
  const startedAt = Date.now();
  const { seed, queue, progress } = options;
  const world = await PointsWorld.open(seed, queue);
  try {
    record(newPoints(await discover(world)));
  } finally {
    await world.close();
  }
  const report: PointsReport = { points: 0, kills: 0, findings: [], missed: [], seconds: 0 };
  const done = new Set<string>();
  const isDone = ({ scenario, point }: CrashPoint) => done.has(`${scenario} › ${point}`);
  // The kills lead to points that a service without them does not reach.
  for (;;) {
    const open = (again ? listPoints() : listOpenPoints(queue)).filter((point) => !isDone(point));
    if (open.length === 0) break;
    progress(`${open.length} of ${listPoints().length} points are left`);
    await forEachConcurrently(inWorlds(open), worldsAtOnce, (points) =>
      runWorld(points, options, report),
    );
    for (const { scenario, point } of open) done.add(`${scenario} › ${point}`);
  }
  report.points = listPoints().length;
  report.seconds = (Date.now() - startedAt) / 1_000;
  return report;
}

async function runWorld(
  points: CrashPoint[],
  options: PointsOptions,
  report: PointsReport,
): Promise<void> {
  const { queue, progress } = options;
  const kills = killsAt(points);
  const { findings, missed, found } = await killAtEach(kills, options);
  report.kills += kills.length - missed.length;
  record(newPoints(found));
  for (const finding of findings) progress(`✗ ${finding}`);
  // Each alone shows which of them it was.
  if (findings.length > 0 && points.length > 1) {
    for (const point of points) await runWorld([point], options, report);
    return;
  }
  report.missed.push(...missed.map(killName));
  for (const each of points) {
    const sides = missed.filter(({ point }) => point === each.point).map(({ side }) => side);
    const result = sides.length === 0 ? resultPassed : `not reached: ${sides.join(', ')}`;
    record([each], queue, findings.length === 0 ? result : `${findings.length} findings`);
    for (const finding of findings)
      report.findings.push(`${each.scenario} › ${each.point}: ${finding}`);
  }
}

export function formatPointsReport(report: PointsReport): string {
  const { points, kills, findings, missed, seconds } = report;
  return [
    `${points} points, ${kills} kills, ${findings.length} findings, ${seconds.toFixed(0)} s`,
    ...findings.map((finding) => `  ✗ ${finding}`),
    ...missed.map((kill) => `  not reached: ${kill}`),
  ].join('\n');
}
