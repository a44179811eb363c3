import { Controller } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { invalidField } from '../../platform/errors.js';
import { DueWork } from '../due-work/due-work.service.js';
import { BankClock, latestInstant } from '../clock/bank-clock.service.js';
import { changeClock, readClock } from './clock.schema.js';
import { addDuration } from '../clock/duration.js';

@Controller()
export class ClockController {
  constructor(
    private readonly clock: BankClock,
    private readonly dueWork: DueWork,
  ) {}

  @Handles(readClock)
  read() {
    return { now: this.clock.now(), frozen: this.clock.isFrozen };
  }

  @Handles(changeClock)
  async change(@Input() { body }: RouteInput<typeof changeClock>) {
    const { now, advance, frozen } = body;
    await this.clock.change({
      ...(now || advance ? { to: (from: Date) => targetOf(body, from) } : {}),
      ...(typeof frozen === 'boolean' ? { isFrozen: frozen } : {}),
    });
    await this.dueWork.runDue();
    return this.read();
  }
}

function targetOf({ now, advance }: RouteInput<typeof changeClock>['body'], from: Date): Date {
  const target = now ? new Date(now) : addDuration(from, advance ?? '');
  if (target !== null && target.getTime() <= latestInstant) return target;
  const message = target ? 'Must be before the year 2049.' : 'Must be an ISO 8601 duration.';
  throw invalidField(now ? '$.now' : '$.advance', message);
}
