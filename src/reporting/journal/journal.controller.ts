import { Controller, UseGuards } from '@nestjs/common';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles, type StreamedReply } from '../../platform/http/contract-route.js';
import { replyWith } from '../exports/exports.controller.js';
import { JournalSetup } from './journal-setup.service.js';
import {
  changeChart,
  changeMapping,
  exportJournal,
  getChart,
  getMapping,
  listJournal,
} from './journal.schema.js';
import { Journals } from './journals.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class JournalController {
  constructor(
    private readonly setup: JournalSetup,
    private readonly journals: Journals,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(getChart)
  chart(@CalledBy() { accountId }: Caller) {
    return this.setup.getChart(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeChart)
  changeChart(@FromCaller() request: CallerInput<typeof changeChart>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeChart, request }, () =>
      this.setup.changeChart(accountId, body, actor),
    );
  }

  @Handles(getMapping)
  mapping(@CalledBy() { accountId }: Caller) {
    return this.setup.getMapping(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeMapping)
  changeMapping(@FromCaller() request: CallerInput<typeof changeMapping>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeMapping, request }, () =>
      this.setup.changeMapping(accountId, body, actor),
    );
  }

  @Handles(listJournal)
  list(@FromCaller() { accountId, params, query }: CallerInput<typeof listJournal>) {
    return this.journals.list(accountId, params.month, query);
  }

  @Handles(exportJournal)
  async file(
    @FromCaller() { accountId, params, query }: CallerInput<typeof exportJournal>,
  ): Promise<StreamedReply> {
    return replyWith(await this.journals.file(accountId, params.month, query));
  }
}
