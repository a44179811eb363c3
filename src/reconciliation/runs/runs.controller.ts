import { Controller, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { ApiKeyGuard, CalledBy } from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { RequiresScope } from '../../accounts/scope.decorator.js';
import type { RouteInput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';
import { Handles, Input, Reply } from '../../platform/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/exact-json.js';
import { isUuid, readPage, toList } from '../../platform/listing.js';
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
  @Handles(startRun)
  start(@CalledBy() { accountId, keyId }: Caller, @Input() request: RouteInput<typeof startRun>) {
    return this.idempotency.runOnce({ accountId, route: startRun, request }, async () => {
      const run = await this.runs.request(accountId, keyId);
      const body = stringifyJson(z.encode(startRun.response, describeRun(run)));
      return new Reply(startRun.successStatus, body, { Location: `/v1/reconciliations/${run.id}` });
    });
  }

  @Handles(listRuns)
  async list(@CalledBy() { accountId }: Caller, @Input() { query }: RouteInput<typeof listRuns>) {
    const page = readPage(query, isUuid);
    const rows = await this.database.prisma.reconciliationRun.findMany({
      where: { accountId, state: query.state, id: { lt: page.after ?? undefined } },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeRun);
  }

  @Handles(getRun)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params: { id } }: RouteInput<typeof getRun>,
  ) {
    if (!isUuid(id)) throw new AppError('not_found');
    return describeRun(await this.runs.get(accountId, id));
  }

  @Handles(getSchedule)
  schedule(@CalledBy() { accountId }: Caller) {
    return this.schedules.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeSchedule)
  change(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof changeSchedule>) {
    return this.idempotency.runOnce({ accountId, route: changeSchedule, request }, () =>
      this.schedules.change(accountId, request.body),
    );
  }
}
