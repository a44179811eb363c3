import { Controller, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { Database } from '../../platform/postgres/database.service.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles, Reply } from '../../platform/http/contract-route.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { begun, Responds } from '../../platform/http/responses.decorator.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { changeSchedule, getRun, getSchedule, listRuns, startRun } from './runs.schema.js';
import { describeRun, RunsService } from './runs.service.js';
import { Schedules } from './schedules.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly schedules: Schedules,
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
  ) {}

  @RequiresScope('reconcile')
  @Responds(begun)
  @Handles(startRun)
  start(@FromCaller() request: CallerInput<typeof startRun>) {
    const { accountId, actor } = request;
    return this.idempotency.runOnce({ accountId, route: startRun, request }, async () => {
      const run = await this.runs.request(accountId, actor);
      const body = stringifyJson(z.encode(startRun.response, describeRun(run)));
      return new Reply(startRun.successStatus, body, { Location: `/v1/reconciliations/${run.id}` });
    });
  }

  @Handles(listRuns)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listRuns>) {
    const page = readPage(query, isUuid);
    const rows = await this.database.prisma.reconciliationRun.findMany({
      where: { accountId, state: query.state, id: { lt: page.after ?? undefined } },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeRun);
  }

  @Handles(getRun)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getRun>) {
    return describeRun(await this.runs.get(accountId, readUuid(params.id)));
  }

  @Handles(getSchedule)
  schedule(@CalledBy() { accountId }: Caller) {
    return this.schedules.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeSchedule)
  change(@FromCaller() request: CallerInput<typeof changeSchedule>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeSchedule, request }, () =>
      this.schedules.change(accountId, body),
    );
  }
}
