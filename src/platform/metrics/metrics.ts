// What /metrics shows: the counts of this process, and values that each module reads from
// PostgreSQL or the queue. A reading is made at most once in a few seconds, whoever scrapes how
// often, and one that fails leaves its values out: the scrape itself does not fail.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import {
  exposeProcess,
  gauge,
  type Declaration,
  type GaugeOf,
  type LabelSets,
} from './instruments.js';
import { Log } from '../log.js';

const readingTimeoutMs = 2_000;
/** How old a value may be that is shown. */
const minAgeMs = 5_000;
/** A slow reading is made less often: it works for a twentieth of the time at most. */
const ageByDuration = 20;
/** Scrapes that come within this time of each other get the same text. */
const sharedMs = 1_000;

interface Reading {
  name: string;
  gauges: readonly Pick<GaugeOf<LabelSets>, 'clear'>[];
  read: () => Promise<void>;
  /** When the values were read; null while there are none. */
  readAtMs: number | null;
  maxAgeMs: number;
  running: { sinceMs: number; ended: Promise<void> } | null;
}

@Injectable()
export class Metrics {
  private readonly registry = new Registry();
  private readonly observations: (() => void)[] = [];
  private readonly readings: Reading[] = [];
  private scraped: { atMs: number; text: Promise<string> } | null = null;
  private readonly isRead = this.gauge({
    name: 'concilia_metrics_reading_up',
    help: 'Whether the values of a reading of PostgreSQL or the queue are shown (1) or absent (0).',
    labels: { reading: /^[a-z]+$/ },
  });
  private readonly readingSeconds = this.gauge({
    name: 'concilia_metrics_reading_seconds',
    help: 'How long the last reading took.',
    labels: { reading: /^[a-z]+$/ },
  });

  constructor(private readonly log: Log) {}

  gauge<const Sets extends LabelSets = Record<never, never>>(
    declaration: Declaration<Sets>,
  ): GaugeOf<Sets> {
    return gauge(declaration, this.registry);
  }

  /** Adds values of the process's memory, which `observe` sets at each scrape. */
  observe(observe: () => void): void {
    this.observations.push(observe);
  }

  /** Adds values that `read` reads and sets. They are shown only while they are recent. */
  addReading(name: string, gauges: Reading['gauges'], read: Reading['read']): void {
    const none = { readAtMs: null, maxAgeMs: minAgeMs, running: null };
    this.readings.push({ name, gauges, read, ...none });
  }

  /** The text of a scrape. */
  async scrape(): Promise<string> {
    const nowMs = performance.now();
    if (!this.scraped || nowMs - this.scraped.atMs > sharedMs)
      this.scraped = { atMs: nowMs, text: this.expose() };
    return this.scraped.text;
  }

  private async expose(): Promise<string> {
    await Promise.all(this.readings.map((reading) => this.refresh(reading)));
    for (const observe of this.observations) observe();
    return `${await exposeProcess()}\n${await this.registry.metrics()}`;
  }

  private async refresh(reading: Reading): Promise<void> {
    const { name, gauges } = reading;
    if (!isRecent(reading)) {
      reading.running ??= { sinceMs: performance.now(), ended: this.read(reading) };
      const { sinceMs, ended } = reading.running;
      const remainingMs = readingTimeoutMs - (performance.now() - sinceMs);
      await Promise.race([ended, sleep(Math.max(0, remainingMs), undefined, { ref: false })]);
    }
    const isShown = isRecent(reading);
    if (!isShown) for (const one of gauges) one.clear();
    this.isRead.set({ reading: name }, isShown ? 1 : 0);
  }

  private async read(reading: Reading): Promise<void> {
    const startedAtMs = performance.now();
    try {
      await reading.read();
      reading.readAtMs = performance.now();
      const durationMs = reading.readAtMs - startedAtMs;
      reading.maxAgeMs = Math.max(minAgeMs, ageByDuration * durationMs);
      this.readingSeconds.set({ reading: reading.name }, durationMs / 1_000);
    } catch (error) {
      this.log.warn({ err: error, reading: reading.name }, 'metrics could not be read');
    } finally {
      reading.running = null;
    }
  }
}

function isRecent({ readAtMs, maxAgeMs }: Reading): boolean {
  return readAtMs !== null && performance.now() - readAtMs < maxAgeMs;
}
