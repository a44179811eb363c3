import { describe, expect, it } from '@jest/globals';
import { balancePlane, plane, rangeOf } from './balance-path.js';

describe('the chart of balances', () => {
  it('puts the greatest balance at the top and the least at the bottom', () => {
    const { points } = balancePlane([0n, 100n, -100n], 1);
    expect(points[1]).toMatchObject({ y: plane.top });
    expect(points[2]).toEqual({ x: plane.width - plane.right, y: plane.height - plane.bottom });
  });

  it('continues the projected part from the last day that is over', () => {
    const { past, projected } = balancePlane([1n, 2n, 3n], 2);
    expect(past.split('L')).toHaveLength(2);
    expect(projected.startsWith(`M${past.split('L').at(-1) ?? ''}`)).toBe(true);
  });

  it('shows where the balance is zero only where the days reach it', () => {
    expect(balancePlane([1n, 5n], 0).zeroY).toBeNull();
    expect(balancePlane([-5n, 5n], 0).zeroY).toBeGreaterThan(plane.top);
  });

  it.each([[[]], [[7n]], [[7n, 7n]], [[-1n, 99_999_999_999_999n]]])('draws %p', (balances) => {
    const { points } = balancePlane(balances, 0);
    expect(points).toHaveLength(balances.length);
    for (const { x, y } of points) {
      expect(Number.isFinite(x) && Number.isFinite(y)).toBe(true);
      expect(y).toBeGreaterThanOrEqual(plane.top);
      expect(y).toBeLessThanOrEqual(plane.height - plane.bottom);
    }
  });

  it('knows the least and the greatest balance', () => {
    expect(rangeOf([3n, -2n, 5n])).toEqual([-2n, 5n]);
  });
});
