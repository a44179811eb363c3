// The health endpoints: whether the process is live, and whether it is ready to work.
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Injectable } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { Log } from '../log.js';

const checkTimeoutMs = 2_000;

@Injectable()
export class Health {
  private readonly checks = new Map<string, () => Promise<boolean>>();
  private readonly warnings = new Map<string, () => Promise<string | null>>();
  private phase: 'start' | 'running' | 'stop' = 'start';
  private readDatabaseName: (() => Promise<string>) | null = null;

  constructor(private readonly log: Log) {}

  /** Adds a check. The process is ready only while every check returns true within two seconds. */
  addCheck(name: string, isReady: () => Promise<boolean>): void {
    this.checks.set(name, isReady);
  }

  /**
   * Adds a check of what an operator should mend, though the process works as it is. A check that
   * fails, or takes longer than two seconds, is itself a warning.
   */
  addWarning(name: string, find: () => Promise<string | null>): void {
    this.warnings.set(name, find);
  }

  /** By this name, another process recognises whether this one uses the same database. */
  nameDatabase(read: () => Promise<string>): void {
    this.readDatabaseName = read;
  }

  /** Null in a process that names none, and while the database does not answer. */
  async findDatabaseName(): Promise<string | null> {
    const { readDatabaseName: read } = this;
    return read && this.resultInTime<string | null>('database name', read, null);
  }

  async listWarnings(): Promise<string[]> {
    const found = await Promise.all(
      [...this.warnings].map(([name, find]) =>
        this.resultInTime(name, find, `Not checked: ${name}.`),
      ),
    );
    return found.filter((warning) => warning !== null);
  }

  /** Called once all parts of the process have started. */
  markStarted(): void {
    this.phase = 'running';
  }

  /**
   * A process that stops is not ready, so that it gets no more requests, and each response asks its
   * client for another connection next time.
   */
  markStopping(): void {
    this.phase = 'stop';
  }

  get isStopping(): boolean {
    return this.phase === 'stop';
  }

  /**
   * Names of the checks that fail, and `start` or `stop` while the process does that; empty when it
   * is ready.
   */
  async listFailing(): Promise<string[]> {
    const results = await Promise.all(
      [...this.checks].map(async ([name, isReady]) =>
        (await this.resultInTime(name, isReady, false)) ? null : name,
      ),
    );
    const failing = results.filter((name) => name !== null);
    return this.phase === 'running' ? failing : [this.phase, ...failing];
  }

  /** The result of a check, or `otherwise` when it fails or takes too long. */
  private async resultInTime<T>(name: string, check: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await Promise.race([check(), sleep(checkTimeoutMs, otherwise, { ref: false })]);
    } catch (error) {
      this.log.warn({ err: error, check: name }, 'health check failed');
      return otherwise;
    }
  }
}

/** A clock that differs from another by more than this is reported. */
const clockToleranceMs = 5_000;

/**
 * A warning if this process's clock differs from PostgreSQL's. Nothing goes wrong by it: no time of
 * a process is stored. But its logs show wrong times.
 */
export async function findClockDifference(now: () => Promise<Date>): Promise<string | null> {
  const before = Date.now();
  const databaseMs = (await now()).getTime();
  const shown = { atLeastMs: databaseMs, atMostMs: databaseMs };
  return describeClockDifference("PostgreSQL's", shown, [before, Date.now()]);
}

/** `shown` is what another clock showed between two readings of this process's clock. */
export function describeClockDifference(
  whose: string,
  shown: { atLeastMs: number; atMostMs: number },
  [before, after]: readonly [number, number],
): string | null {
  const aheadMs = before - shown.atMostMs;
  const behindMs = shown.atLeastMs - after;
  const differenceMs = Math.max(aheadMs, behindMs);
  if (differenceMs <= clockToleranceMs) return null;
  const seconds = Math.round(differenceMs / 1_000);
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this process is ${seconds} s ${direction} ${whose}.`;
}

/**
 * Whether the route is for operators and their programs: it is served in every role, and not
 * limited, so that a flood through one proxy does not take the process down.
 */
export function isForOperators({ routeOptions }: FastifyRequest): boolean {
  return (routeOptions.config as { isForOperators?: boolean }).isForOperators === true;
}

@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('live')
  @RouteConfig({ isForOperators: true })
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('database')
  @RouteConfig({ isForOperators: true })
  async database(): Promise<{ name: string | null }> {
    return { name: await this.health.findDatabaseName() };
  }

  @Get('ready')
  @RouteConfig({ isForOperators: true })
  async ready(): Promise<{ status: 'ready'; warnings: string[] }> {
    const failing = await this.health.listFailing();
    if (failing.length === 0)
      return { status: 'ready', warnings: await this.health.listWarnings() };
    throw new AppError('not_ready', {
      public: `Not ready: ${failing.join(', ')}.`,
      headers: { 'Retry-After': '1' },
    });
  }
}
