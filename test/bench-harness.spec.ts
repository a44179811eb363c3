import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { drawFigures } from '../bench/harness/picture.js';
import { describeGoal, writePage, writeResults } from '../bench/harness/report.js';
import { scalingText } from '../bench/harness/scaling-page.js';
import {
  summarizeRounds,
  formatFigure,
  compareToGoal,
  measuredTogether,
  runRounds,
} from '../bench/harness/rounds.js';

const goal = { of: 'service', against: 'yardstick', atLeast: 0.5 };

describe('the rounds of a bench', () => {
  it('interleaves the contestants, each round beginning with another one', async () => {
    const ran: string[] = [];
    const contestant = (name: string, figure: number) => () => {
      ran.push(name);
      return Promise.resolve(figure);
    };
    const contestants = {
      service: contestant('service', 3),
      yardstick: contestant('yardstick', 5),
    };
    const figures = await runRounds({ contestants }, 2, () => undefined);
    expect(ran).toEqual(['service', 'yardstick', 'yardstick', 'service']);
    expect(figures.service?.rounds).toEqual([3, 3]);
  });

  it('measures once a round what gives several figures', async () => {
    let measured = 0;
    const measure = () => {
      measured += 1;
      return Promise.resolve({ cpu: measured, memory: 10 * measured });
    };
    const contestants = measuredTogether(['cpu', 'memory'], measure);
    const figures = await runRounds({ contestants }, 3, () => undefined);
    expect(figures.cpu?.rounds).toEqual([1, 2, 3]);
    expect(figures.memory?.rounds).toEqual([10, 20, 30]);
  });

  it('fails when a contestant measures nothing', async () => {
    const contestants = { service: () => Promise.resolve(NaN) };
    await expect(runRounds({ contestants }, 1, () => undefined)).rejects.toThrow(
      'service measured nothing in round 1',
    );
  });

  it('takes the median and the range', () => {
    expect(summarizeRounds([9, 1, 5])).toMatchObject({ median: 5, min: 1, max: 9 });
    expect(summarizeRounds([4, 1, 2, 9])).toMatchObject({ median: 3 });
  });

  it.each([
    ['met', [60, 61, 62], [100, 101, 102], true],
    ['missed', [40, 41, 42], [100, 101, 102], false],
  ])('is %s', (_, service, yardstick, isMet) => {
    const figures = { service: summarizeRounds(service), yardstick: summarizeRounds(yardstick) };
    expect(compareToGoal(goal, figures).isMet).toBe(isMet);
  });

  it('compares a figure without a yardstick with the goal itself', () => {
    const figures = { summary: summarizeRounds([20, 25, 31]) };
    expect(compareToGoal({ of: 'summary', atMost: 30 }, figures)).toMatchObject({
      measured: 25,
      isMet: true,
    });
    expect(compareToGoal({ of: 'summary', atMost: 24 }, figures).isMet).toBe(false);
  });

  it.each([
    [0.094321, '0.0943'],
    [12.345, '12.3'],
    [6236.4, '6,236'],
  ])('writes %d as %s', (figure, text) => {
    expect(formatFigure(figure)).toBe(text);
  });
});

describe('the results of benches', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-results-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const figures = { service: summarizeRounds([60]), yardstick: summarizeRounds([100]) };
  const result = (id: string) => ({
    ...{ id, title: 'Lines < stored', unit: 'lines/s', date: '2026-11-23', machine: 'a machine' },
    ...{ figures, goals: [compareToGoal(goal, figures)] },
  });

  it('keeps the results of other goals, in the order of the goals', () => {
    writeResults(folder, [result('G10'), result('G2')]);
    const all = writeResults(folder, [{ ...result('G2'), date: '2026-11-24' }]);
    expect(all.map(({ id, date }) => [id, date])).toEqual([
      ['G2', '2026-11-24'],
      ['G10', '2026-11-23'],
    ]);
    const page = join(folder, 'page.md');
    writeFileSync(page, 'Before\n<!-- results: begin -->\nold\n<!-- results: end -->\nAfter\n');
    writePage(page, all);
    const text = readFileSync(page, 'utf8');
    expect(text).toContain(
      '| G2 | Lines < stored: service / yardstick | ≥ 0.5 | 0.6 | 60 / 100 lines/s |',
    );
    expect(text).toMatch(/^Before\n[^]*After\n$/);
    expect(text).not.toContain('old');
  });

  it('draws each contestant, with text that is safe in XML', () => {
    const picture = drawFigures(result('G2'));
    expect(picture).toContain('Lines &lt; stored');
    expect(picture.match(/<rect [^>]*fill="#2f6fde"/g)).toHaveLength(1);
    expect(picture.match(/<rect [^>]*fill="#8a94a6"/g)).toHaveLength(1);
  });

  it('says what was compared', () => {
    expect(describeGoal(compareToGoal(goal, figures))).toEqual({
      ...{ what: 'service / yardstick', goal: '≥ 0.5', measured: '0.6', conclusion: 'met' },
    });
  });
});

it('states in docs/explanation/scaling.md what docs/performance/disk.json has', () => {
  const project = join(import.meta.dirname, '..');
  const page = readFileSync(join(project, 'docs/explanation/scaling.md'), 'utf8');
  const [, stated] = /<!-- disk: begin -->\n\n(.*?)\n\n<!-- disk: end -->/s.exec(page) ?? [];
  expect(stated).toBe(scalingText(project));
});
