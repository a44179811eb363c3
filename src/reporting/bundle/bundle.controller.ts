import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { Handles, type StreamedReply } from '../../platform/http/contract-route.js';
import { replyWith } from '../exports/exports.controller.js';
import { getAuditorPack, getMonthBundle } from '../exports/exports.schema.js';
import { MonthBundles } from './month-bundles.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BundleController {
  constructor(private readonly bundles: MonthBundles) {}

  @Handles(getMonthBundle)
  async open(
    @FromCaller() { params, ...caller }: CallerInput<typeof getMonthBundle>,
  ): Promise<StreamedReply> {
    return replyWith(await this.bundles.open(caller, params.month));
  }

  @RequiresScope('personal-data')
  @Handles(getAuditorPack)
  async openPack(
    @FromCaller() { params, ...caller }: CallerInput<typeof getAuditorPack>,
  ): Promise<StreamedReply> {
    return replyWith(await this.bundles.openPack(caller, params.month));
  }
}
