import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { commentOnBreak, listBreakComments } from './break-comments.schema.js';
import { BreakComments } from './break-comments.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BreakCommentsController {
  constructor(
    private readonly comments: BreakComments,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listBreakComments)
  list(@FromCaller() { params, query, ...caller }: CallerInput<typeof listBreakComments>) {
    return this.comments.list(caller, params.id, query);
  }

  @RequiresScope('reconcile')
  @Handles(commentOnBreak)
  comment(@FromCaller() request: CallerInput<typeof commentOnBreak>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: commentOnBreak, request }, () =>
      this.comments.add(request, params.id, body.text),
    );
  }
}
