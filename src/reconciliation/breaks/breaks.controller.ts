import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { RequiresScope } from '../../accounts/scope.decorator.js';
import type { RouteInput } from '../../contract/route.js';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { BreakActions } from './break-actions.service.js';
import { BreakReading } from './break-reading.service.js';
import { actOnBreak, actOnBreaks, getBreak, listBreaks } from './breaks.schema.js';
import { BulkActions } from './bulk-actions.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BreaksController {
  constructor(
    private readonly reading: BreakReading,
    private readonly actions: BreakActions,
    private readonly bulk: BulkActions,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listBreaks)
  list(@CalledBy() { accountId }: Caller, @Input() { query }: RouteInput<typeof listBreaks>) {
    return this.reading.list(accountId, query);
  }

  @Handles(getBreak)
  get(@CalledBy() { accountId }: Caller, @Input() { params }: RouteInput<typeof getBreak>) {
    return this.reading.get(accountId, params.id);
  }

  @RequiresScope('reconcile')
  @Handles(actOnBreaks)
  actOnMany(@CalledBy() caller: Caller, @Input() request: RouteInput<typeof actOnBreaks>) {
    const { accountId } = caller;
    return this.idempotency.runOnce({ accountId, route: actOnBreaks, request }, () =>
      this.bulk.act(caller, request.body),
    );
  }

  @RequiresScope('reconcile')
  @Handles(actOnBreak)
  act(@CalledBy() caller: Caller, @Input() request: RouteInput<typeof actOnBreak>) {
    const { accountId } = caller;
    const { id } = request.params;
    return this.idempotency.runOnce({ accountId, route: actOnBreak, request }, async () => {
      await this.actions.act(caller, id, request.body);
      return this.reading.get(accountId, id);
    });
  }
}
