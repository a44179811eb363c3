// The points of the chart of balances, from exact cents to a plane of fixed size.
import type { Cents } from '../../brazil/cents.js';

export const plane = { width: 800, height: 200, left: 4, right: 4, top: 8, bottom: 8 } as const;

export interface BalancePlane {
  /** `M0,0L…` of the days that are over, and of those from today on, which are projected. */
  past: string;
  projected: string;
  /** Where the balance is zero; null where the days do not reach it. */
  zeroY: number | null;
  /** The place of each day. */
  points: readonly { x: number; y: number }[];
}

/** `firstProjected`: the index of the first day that is not over. */
export function balancePlane(balances: readonly Cents[], firstProjected: number): BalancePlane {
  const [least, greatest] = rangeOf(balances);
  const inner = {
    width: plane.width - plane.left - plane.right,
    height: plane.height - plane.top - plane.bottom,
  };
  const span = greatest - least;
  const yOf = (cents: Cents) =>
    span === 0n
      ? plane.top + inner.height / 2
      : // A share of a thousand-thousandth is exact enough for a picture, and no cent is a float.
        plane.top + (Number(((greatest - cents) * 1_000_000n) / span) / 1_000_000) * inner.height;
  const step = balances.length > 1 ? inner.width / (balances.length - 1) : 0;
  const points = balances.map((cents, index) => ({
    x: round(plane.left + index * step),
    y: round(yOf(cents)),
  }));
  return {
    past: pathOf(points.slice(0, Math.max(firstProjected, 0))),
    // It begins at the last day that is over, so that the line has no gap.
    projected: pathOf(points.slice(Math.max(firstProjected - 1, 0))),
    zeroY: least <= 0n && greatest >= 0n && span > 0n ? round(yOf(0n)) : null,
    points,
  };
}

export function rangeOf(balances: readonly Cents[]): [least: Cents, greatest: Cents] {
  const [first = 0n, ...others] = balances;
  return others.reduce<[Cents, Cents]>(
    ([least, greatest], cents) => [
      cents < least ? cents : least,
      cents > greatest ? cents : greatest,
    ],
    [first, first],
  );
}

function pathOf(points: readonly { x: number; y: number }[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x},${y}`).join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
