// Whether the process lives, and whether it can do its work.
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AppError } from './errors.js';
import { Log } from './log.js';

interface Check {
  name: string;
  isReady: () => Promise<boolean>;
}

@Injectable()
export class Health implements OnModuleDestroy {
  private readonly checks: Check[] = [];
  private hasStarted = false;

  constructor(private readonly log: Log) {}

  /** Adds what must hold for the process to be ready. */
  require(name: string, isReady: () => Promise<boolean>): void {
    this.checks.push({ name, isReady });
  }

  /** Everything that starts has started. */
  started(): void {
    this.hasStarted = true;
  }

  /** It ends: nobody should send it anything more. */
  onModuleDestroy(): void {
    this.hasStarted = false;
  }

  /** What is not ready; empty when all is. */
  async missing(): Promise<string[]> {
    const results = await Promise.all(
      this.checks.map(async ({ name, isReady }) => {
        try {
          return (await Promise.race([isReady(), tooLate()])) ? null : name;
        } catch (error) {
          this.log.warn({ err: error, check: name }, 'not ready');
          return name;
        }
      }),
    );
    const missing = results.filter((name) => name !== null);
    return this.hasStarted ? missing : ['start', ...missing];
  }
}

const checkTimeoutMs = 2_000;

/** What does not answer is not ready. */
async function tooLate(): Promise<false> {
  return sleep(checkTimeoutMs, false as const, { ref: false });
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
    const missing = await this.health.missing();
    if (missing.length === 0) return { status: 'ready' };
    throw new AppError('not_ready', {
      public: `Not ready: ${missing.join(', ')}.`,
      headers: { 'Retry-After': '1' },
    });
  }
}
