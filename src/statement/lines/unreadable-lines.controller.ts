// The API of unreadable lines: list, read and redrive.
import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import {
  getUnreadableLine,
  listUnreadableLines,
  redriveUnreadableLine,
  redriveUnreadableLines,
} from './unreadable-lines.schema.js';
import { describeUnreadableLine, UnreadableLines } from './unreadable-lines.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class UnreadableLinesController {
  constructor(
    private readonly lines: UnreadableLines,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listUnreadableLines)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listUnreadableLines>) {
    return this.lines.list(accountId, query);
  }

  @Handles(getUnreadableLine)
  async get(@FromCaller() { accountId, params, scopes }: CallerInput<typeof getUnreadableLine>) {
    const row = await this.lines.get(accountId, params.id);
    return {
      ...describeUnreadableLine(row),
      content: seesPersonalData(scopes) ? row.content : null,
    };
  }

  @RequiresScope('reconcile')
  @Handles(redriveUnreadableLines)
  redriveAll(@FromCaller() request: CallerInput<typeof redriveUnreadableLines>) {
    const { accountId } = request;
    return this.idempotency.runOnce({ accountId, route: redriveUnreadableLines, request }, () =>
      this.lines.redrive(accountId),
    );
  }

  @RequiresScope('reconcile')
  @Handles(redriveUnreadableLine)
  redrive(@FromCaller() request: CallerInput<typeof redriveUnreadableLine>) {
    const { accountId, params } = request;
    const { id } = params;
    const idempotent = { accountId, route: redriveUnreadableLine, request };
    return this.idempotency.runOnce(idempotent, async () => {
      await this.lines.get(accountId, id);
      await this.lines.redrive(accountId, id);
      return describeUnreadableLine(await this.lines.get(accountId, id));
    });
  }
}
