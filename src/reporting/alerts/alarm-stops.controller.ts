import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard } from '../../access/accounts/api-key.guard.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { Handles, Input } from '../../platform/http/contract-route.js';
import { changeAlarmStop, getAlarmStop } from './alarm-stops.schema.js';
import { AlarmStops } from './alarm-stops.service.js';

/** Whether alarms stop an account. */
@Controller()
@UseGuards(ApiKeyGuard)
export class AlarmStopsController {
  constructor(private readonly stops: AlarmStops) {}

  @Handles(getAlarmStop)
  get(@Input() { params }: RouteInput<typeof getAlarmStop>) {
    return this.stops.get(params.slug);
  }

  @Handles(changeAlarmStop)
  async change(@Input() { params, body }: RouteInput<typeof changeAlarmStop>) {
    await this.stops.change({ params, body });
    return this.stops.get(params.slug);
  }
}
