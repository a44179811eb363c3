// The health endpoints: whether the process is live, and whether it is ready to work.
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AppError } from './errors.js';
import { Log } from './log.js';

const checkTimeoutMs = 2_000;

@Injectable()
export class Health implements OnModuleDestroy {
  private readonly checks = new Map<string, () => Promise<boolean>>();
  private hasStarted = false;

  constructor(private readonly log: Log) {}

  /** Adds a check. The process is ready only while every check returns true within two seconds. */
  addCheck(name: string, isReady: () => Promise<boolean>): void {
    this.checks.set(name, isReady);
  }

  /** Called once all parts of the process have started. */
  markStarted(): void {
    this.hasStarted = true;
  }

  /** A process that shuts down is not ready, so that it gets no more requests. */
  onModuleDestroy(): void {
    this.hasStarted = false;
  }

  /**
   * Names of the checks that fail, and `start` while the process has not started; empty when it is
   * ready.
   */
  async listFailing(): Promise<string[]> {
    const results = await Promise.all(
      [...this.checks].map(async ([name, isReady]) => {
        try {
          const timeout = sleep(checkTimeoutMs, false, { ref: false });
          return (await Promise.race([isReady(), timeout])) ? null : name;
        } catch (error) {
          this.log.warn({ err: error, check: name }, 'health check failed');
          return name;
        }
      }),
    );
    const failing = results.filter((name) => name !== null);
    return this.hasStarted ? failing : ['start', ...failing];
  }
}

@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  async ready(): Promise<{ status: 'ready' }> {
    const failing = await this.health.listFailing();
    if (failing.length === 0) return { status: 'ready' };
    throw new AppError('not_ready', {
      public: `Not ready: ${failing.join(', ')}.`,
      headers: { 'Retry-After': '1' },
    });
  }
}
