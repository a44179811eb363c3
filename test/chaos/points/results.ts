// The list of crash points with their results, which is committed. A result is the queue and the
// version with which the service was killed before and after the point and the audit found nothing.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addPoints, type CrashPoint } from './kills.js';
import type { ScenarioKind } from './scenario.js';
import type { QueueName } from './world.js';

const file = fileURLToPath(new URL('../points.json', import.meta.url));
const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };

/** By scenario and point. */
type Results = Partial<Record<ScenarioKind, Record<string, Partial<Record<QueueName, string>>>>>;

const read = (): Results => JSON.parse(readFileSync(file, 'utf8')) as Results;

export function listPoints(): CrashPoint[] {
  return Object.entries(read()).flatMap(([scenario, points]) =>
    Object.keys(points).map((point) => ({ scenario: scenario as ScenarioKind, point })),
  );
}

/** Those of the points that the list does not have. */
export function newPoints(found: CrashPoint[]): CrashPoint[] {
  const known = listPoints();
  return addPoints(known, found).slice(known.length);
}

/** The points without a result of this version. */
export function listOpenPoints(queue: QueueName): CrashPoint[] {
  const results = read();
  return listPoints().filter(
    ({ scenario, point }) => results[scenario]?.[point]?.[queue] !== resultPassed,
  );
}

/** The points after which the audit had findings. */
export function listFailures(): string[] {
  return Object.entries(read()).flatMap(([scenario, points]) =>
    Object.entries(points)
      .filter(([, results]) => Object.values(results).some((result) => /finding/.test(result)))
      .map(([point]) => `${scenario} › ${point}`),
  );
}

/** Adds points, or the result of points that the list has. */
export function record(points: CrashPoint[], queue?: QueueName, result?: string): void {
  const results = read();
  for (const { scenario, point } of points) {
    const own = (results[scenario] ??= {});
    own[point] = { ...own[point], ...(queue ? { [queue]: result } : {}) };
  }
  writeFileSync(file, `${JSON.stringify(sorted(results), null, 2)}\n`);
}

/** The result of a point that was reached from both sides. */
export const resultPassed = `passed ${version}`;

function sorted<Value>(values: Value): Value {
  if (typeof values !== 'object' || values === null) return values;
  const entries = Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, sorted(value)])) as Value;
}
