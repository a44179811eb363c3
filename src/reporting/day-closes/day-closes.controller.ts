import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Handles } from '../../platform/http/contract-route.js';
import { getDayClose, listDayCloses, listOutcomeChangesOfDay } from './day-closes.schema.js';
import { DayCloses } from './day-closes.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class DayClosesController {
  constructor(private readonly dayCloses: DayCloses) {}

  @Handles(listDayCloses)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listDayCloses>) {
    return this.dayCloses.list(accountId, query);
  }

  @Handles(listOutcomeChangesOfDay)
  async listChanges(
    @FromCaller() { accountId, params, query }: CallerInput<typeof listOutcomeChangesOfDay>,
  ) {
    return this.dayCloses.listChanges(accountId, params.date, query);
  }

  @Handles(getDayClose)
  async get(@FromCaller() { accountId, params: { date } }: CallerInput<typeof getDayClose>) {
    return this.dayCloses.get(accountId, date);
  }
}
