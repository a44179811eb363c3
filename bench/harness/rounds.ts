// Runs the rounds of a contest interleaved, so that what else the machine does hits everyone alike.
import type { Contest, Goal } from './bench.js';

export interface RoundFigures {
  median: number;
  min: number;
  max: number;
  /** One figure a round. */
  rounds: number[];
}

export interface GoalResult extends Goal {
  /** The ratio of the medians; without a yardstick, the median. */
  measured: number;
  isMet: boolean;
}

export async function runRounds(
  { contestants }: Pick<Contest, 'contestants'>,
  rounds: number,
  report: (text: string) => void,
): Promise<Record<string, RoundFigures>> {
  const names = Object.keys(contestants);
  const measured = new Map(names.map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    // Each round begins with another contestant: what runs first may find colder caches.
    const order = names.map((_, index) => names[(index + round) % names.length] ?? '');
    for (const name of order) {
      const figure = await contestants[name]?.();
      if (figure === undefined || !Number.isFinite(figure))
        throw new Error(`${name} measured nothing in round ${round + 1}`);
      measured.get(name)?.push(figure);
      report(`round ${round + 1} of ${rounds}  ${name}: ${formatFigure(figure)}`);
    }
  }
  return Object.fromEntries(
    [...measured].map(([name, figures]) => [name, summarizeRounds(figures)]),
  );
}

/**
 * The contestants whose figures one measurement gives together. The first of them in a round
 * measures, and each takes its own figure.
 */
export function measuredTogether<Name extends string>(
  names: readonly Name[],
  measure: () => Promise<Record<Name, number>>,
): Contest['contestants'] {
  let figures: Partial<Record<Name, number>> = {};
  const take = async (name: Name): Promise<number> => {
    if (figures[name] === undefined) figures = { ...(await measure()) };
    const figure = figures[name];
    delete figures[name];
    return figure ?? NaN;
  };
  return Object.fromEntries(names.map((name) => [name, () => take(name)]));
}

export function summarizeRounds(rounds: number[]): RoundFigures {
  const sorted = [...rounds].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
  return { median, min: sorted[0] ?? NaN, max: sorted.at(-1) ?? NaN, rounds };
}

export function compareToGoal(goal: Goal, figures: Record<string, RoundFigures>): GoalResult {
  const of = figuresNamed(figures, goal.of);
  const against = goal.against === undefined ? null : figuresNamed(figures, goal.against);
  const measured = against ? of.median / against.median : of.median;
  const isMet = measured >= (goal.atLeast ?? -Infinity) && measured <= (goal.atMost ?? Infinity);
  return { ...goal, measured, isMet };
}

function figuresNamed(figures: Record<string, RoundFigures>, name: string): RoundFigures {
  const found = figures[name];
  if (!found) throw new Error(`no contestant is named ${name}`);
  return found;
}

/** Three significant digits, without an exponent. */
export function formatFigure(figure: number): string {
  if (Math.abs(figure) >= 100) return Math.round(figure).toLocaleString('en-US');
  return String(Number(figure.toPrecision(3)));
}
