import { describe, expect, it } from '@jest/globals';
import { renderFor, type Visit } from '../visit.js';
import { h } from 'preact';
import { StepChart } from './day-charts.js';

const visit = { t: (key: string) => key, language: 'pt' } as unknown as Visit;
const days = [50_000n, 80_000n, 80_000n, 65_000n].map((cents, index) => ({
  ...{ day: `2026-03-0${index + 1}`, cents, isProjected: index > 2 },
}));
const draw = (props: object) =>
  renderFor(visit, h(StepChart, { title: 'chart.balance', days, ...props })).replaceAll(
    '\u00a0',
    ' ',
  );
const pointsOf = (svg: string) =>
  [...svg.matchAll(/class="balance[^"]*" d="M([^"]*)"/g)].map(([, path = '']) =>
    path.split('L').map((point) => point.split(',').map(Number)),
  );

describe('the chart of a balance', () => {
  it('goes in steps: a balance changes at once', () => {
    const paths = pointsOf(draw({}));
    expect(paths).toHaveLength(2);
    for (const points of paths)
      for (const [index, [x, y]] of points.entries()) {
        const [beforeX, beforeY] = points[index - 1] ?? [x, y];
        expect(x === beforeX || y === beforeY).toBe(true);
      }
  });

  it('continues the projected part from the last day that is over', () => {
    const [past, projected] = pointsOf(draw({}));
    expect(projected?.[0]).toEqual(past?.at(-1));
  });

  it('has a legend of what it draws alone', () => {
    const projected = days.map((one) => ({ ...one, isProjected: true }));
    expect(draw({ today: '2026-03-04' })).toContain('chart.past');
    const svg = draw({ days: projected, today: '2026-03-01' });
    expect([svg.includes('chart.past'), svg.includes('chart.projected')]).toEqual([false, true]);
  });

  it('has zero on its axis, with a value at each line', () => {
    const svg = draw({});
    expect(svg).toContain('>R$ 0</text>');
    expect(svg).toMatch(/class="zero"/);
    expect(svg.match(/class="(grid|zero)"/g)?.length).toBe(svg.match(/>R\$ /g)?.length);
  });

  it('has all of its days in its width, and marks today where days follow', () => {
    const places = [...draw({}).matchAll(/<text x="([\d.]+)%" y="220"/g)].map(([, x]) => Number(x));
    expect(places).toHaveLength(days.length);
    for (const place of places) expect(place).toBeLessThan(100);
    expect(draw({})).not.toContain('class="today"');
    expect(draw({ today: '2026-03-03' })).toContain('class="today"');
  });
});
