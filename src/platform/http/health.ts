// The health endpoints: whether the process is live, and whether it is ready to work.
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Injectable } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { Build } from '../build.js';
import { AppError } from '../errors.js';
import { Log } from '../log.js';
import type { Role } from '../settings/config.js';

const checkTimeoutMs = 2_000;

export interface Check {
  /** What an operator should mend; null for nothing. */
  find: () => Promise<string | null>;
  /** What an operator does about it. */
  advice?: string;
  /** Which roles cannot work meanwhile: none without it. */
  needs?: readonly Role[];
}

interface Result {
  check: string;
  isPassed: boolean;
  /** When this process first found it so, by its clock. */
  since: string;
  finding?: string;
  advice?: string;
}

/** A process with the role `api` is ready while requests are answered, whatever its jobs do. */
const servingRoles = (of: readonly Role[]) =>
  of.filter((role) => role === 'api' || !of.includes('api'));

@Injectable()
export class Health {
  private readonly checks = new Map<string, Check & { last?: Result }>();
  private phase: 'start' | 'running' | 'stop' = 'start';
  private readDatabaseName: (() => Promise<string>) | null = null;
  private identity: { build: Build | null; roles: readonly Role[] } = { build: null, roles: [] };

  constructor(private readonly log: Log) {}

  /** What this process is. */
  identify(build: Build, roles: readonly Role[]): void {
    this.identity = { build, roles };
  }

  /** A check that fails, or takes longer than two seconds, has itself a finding. */
  addCheck(name: string, check: Check): void {
    this.checks.set(name, { ...check });
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
   * `failing` are the names of checks without which the process cannot serve, and `start` or `stop`
   * while it does that: it is ready where there are none. Other findings are warnings.
   */
  async examine() {
    const { build, roles } = this.identity;
    const checks = await Promise.all([...this.checks.keys()].map((name) => this.run(name)));
    const failed = checks.filter(({ isPassed }) => !isPassed).map(({ check }) => check);
    const lacking = (of: readonly Role[]) =>
      failed.filter((name) => {
        const { needs = [] } = this.checks.get(name) ?? {};
        return of.length === 0 ? needs.length > 0 : of.some((role) => needs.includes(role));
      });
    const failing = lacking(servingRoles(roles));
    const phase = this.phase === 'running' ? [] : [this.phase];
    const warnings = checks.flatMap(({ check, finding }) =>
      finding !== undefined && !failing.includes(check) ? finding : [],
    );
    return {
      failing: [...phase, ...failing],
      facts: {
        ...(build ?? {}),
        roles: Object.fromEntries(roles.map((role) => [role, [...phase, ...lacking([role])]])),
        ...{ checks, warnings },
      },
    };
  }

  private async run(name: string): Promise<Result> {
    const check = this.checks.get(name)!;
    const { find, advice, last } = check;
    const finding = await this.resultInTime(name, find, `Not checked: ${name}.`);
    const isPassed = finding === null;
    const now = new Date().toISOString();
    const since = last?.isPassed === isPassed ? last.since : now;
    const wrong = isPassed ? {} : { finding, ...(advice ? { advice } : {}) };
    check.last = { check: name, isPassed, since, ...wrong };
    return check.last;
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

  /** An error has the contract's body, with the same facts. */
  @Get('ready')
  @RouteConfig({ isForOperators: true })
  async ready(): Promise<object> {
    const { failing, facts } = await this.health.examine();
    if (failing.length === 0) return { status: 'ready', ...facts };
    throw new AppError('not_ready', {
      public: `Not ready: ${failing.join(', ')}.`,
      headers: { 'Retry-After': '1' },
      facts,
    });
  }
}
