import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { counter, declaredMetrics } from './instruments.js';
import { createLog } from '../log.js';
import { Metrics } from './metrics.js';

/** The samples of a scrape by name and labels. */
async function samplesOf(metrics: Metrics): Promise<Record<string, number>> {
  const text = await metrics.scrape();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** One gauge whose reading is `read`. */
function metricsReading(read: () => Promise<number>) {
  const metrics = new Metrics(createLog('silent', 'metrics'));
  const lines = metrics.gauge({ name: 'lines', help: 'Lines.' });
  metrics.addReading('statement', [lines], async () => lines.set({}, await read()));
  return metrics;
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a reading', () => {
  it('is made once in five seconds, however often it is scraped', async () => {
    let reads = 0;
    const metrics = metricsReading(() => Promise.resolve((reads += 1)));
    for (let scrape = 0; scrape < 50; scrape += 1) {
      await metrics.scrape();
      jest.advanceTimersByTime(80);
    }
    expect(reads).toBe(1);
    jest.advanceTimersByTime(2_000);
    expect(await samplesOf(metrics)).toMatchObject({ lines: 2 });
  });

  it('is made less often the longer it takes', async () => {
    let reads = 0;
    const metrics = metricsReading(() => {
      reads += 1;
      return new Promise((resolve) => setTimeout(() => resolve(reads), 1_000));
    });
    const first = metrics.scrape();
    await jest.advanceTimersByTimeAsync(1_000);
    await first;
    jest.advanceTimersByTime(19_000);
    expect(await samplesOf(metrics)).toMatchObject({ lines: 1 });
    jest.advanceTimersByTime(2_000);
    const second = metrics.scrape();
    await jest.advanceTimersByTimeAsync(1_000);
    await second;
    expect(reads).toBe(2);
  });

  it('that fails leaves its values out, and no others', async () => {
    let isAway = true;
    const metrics = metricsReading(() =>
      isAway ? Promise.reject(new Error('no connection')) : Promise.resolve(7),
    );
    const other = metrics.gauge({ name: 'other', help: 'Other.' });
    metrics.observe(() => other.set({}, 3));
    const up = 'concilia_metrics_reading_up{reading="statement"}';
    const away = await samplesOf(metrics);
    expect(away).toMatchObject({ other: 3, [up]: 0 });
    expect(away).not.toHaveProperty('lines');
    isAway = false;
    jest.advanceTimersByTime(2_000);
    expect(await samplesOf(metrics)).toMatchObject({ other: 3, lines: 7, [up]: 1 });
    // Values of before are not shown for long.
    isAway = true;
    jest.advanceTimersByTime(6_000);
    expect(await samplesOf(metrics)).not.toHaveProperty('lines');
  });

  it('that does not end is waited for once, for two seconds, and not made again', async () => {
    let reads = 0;
    const metrics = metricsReading(() => {
      reads += 1;
      return new Promise<never>(() => undefined);
    });
    const scrape = metrics.scrape();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await scrape).not.toContain('\nlines');
    jest.advanceTimersByTime(10_000);
    const next = metrics.scrape();
    await jest.advanceTimersByTimeAsync(0);
    expect(await next).not.toContain('\nlines');
    expect(reads).toBe(1);
  });
});

it('gives scrapes within a second the same text', async () => {
  const metrics = new Metrics(createLog('silent', 'metrics'));
  const scrapes = metrics.gauge({ name: 'scrapes', help: 'Scrapes.' });
  let count = 0;
  metrics.observe(() => scrapes.set({}, (count += 1)));
  const both = [samplesOf(metrics), samplesOf(metrics)];
  expect(await Promise.all(both)).toMatchObject([{ scrapes: 1 }, { scrapes: 1 }]);
  jest.advanceTimersByTime(1_100);
  expect(await samplesOf(metrics)).toMatchObject({ scrapes: 2 });
});

it('starts a counter at zero for each listed value, and declares the values', async () => {
  counter({ name: 'runs_total', help: 'Runs.', labels: { result: ['good', 'bad'] } });
  counter({ name: 'calls_total', help: 'Calls.', labels: { route: /^[a-z]+$/ } });
  const samples = await samplesOf(new Metrics(createLog('silent', 'metrics')));
  expect(samples).toMatchObject({ 'runs_total{result="good"}': 0, 'runs_total{result="bad"}': 0 });
  expect(Object.keys(samples).some((name) => name.startsWith('calls_total'))).toBe(false);
  expect(declaredMetrics().get('runs_total')).toEqual({ result: ['good', 'bad'] });
});
