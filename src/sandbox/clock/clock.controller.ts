import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { DueWork } from '../due-work/due-work.service.js';
import { BankClock } from './bank-clock.service.js';
import { changeClock, lastInstant, readClock } from './clock.schema.js';
import { addDuration } from './duration.js';

@Controller()
export class ClockController {
  constructor(
    private readonly clock: BankClock,
    private readonly dueWork: DueWork,
  ) {}

  @Handles(readClock)
  read() {
    return { now: this.clock.now().toISOString(), frozen: this.clock.isFrozen };
  }

  @Handles(changeClock)
  async change(@Input() { body }: RouteInput<typeof changeClock>) {
    const to = this.targetOf(body);
    await this.clock.change({
      ...(to ? { to } : {}),
      ...(typeof body.frozen === 'boolean' ? { isFrozen: body.frozen } : {}),
    });
    await this.dueWork.runDue();
    return this.read();
  }

  private targetOf({ now, advance }: RouteInput<typeof changeClock>['body']): Date | null {
    const path = now ? '$.now' : '$.advance';
    const target = now
      ? new Date(now)
      : advance
        ? addDuration(this.clock.now(), advance)
        : undefined;
    if (target === undefined) return null;
    if (target !== null && target.getTime() <= lastInstant) return target;
    const message = target ? 'Is beyond the year 2048.' : 'Must be an ISO 8601 duration.';
    throw new AppError('validation_failed', { errors: { [path]: [message] } });
  }
}
