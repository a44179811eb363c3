import { Controller, UseGuards } from '@nestjs/common';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { missingScope, RequiresScope } from '../../access/accounts/scope.decorator.js';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { Handles } from '../../platform/http/contract-route.js';
import { CallsBank, Responds } from '../../platform/http/responses.decorator.js';
import { BreakActions } from './break-actions.service.js';
import { BreakReading } from './break-reading.service.js';
import { actOnBreak, actOnBreaks, getBreak, listBreaks } from './breaks.schema.js';
import { changeRefundPolicies, getRefundPolicies } from './refund-policies.schema.js';
import { RefundPolicies } from './refund-policies.service.js';
import { changeSeveritySteps, getSeveritySteps } from './severity-steps.schema.js';
import { SeveritySettings } from './severity-steps.service.js';

const refundRefused = {
  status: 422,
  description: 'The action breaks a rule, here or at the bank; see `code`.',
  headers: { Location: 'The operation of a refund that the bank refused.' },
};

@Controller()
@UseGuards(ApiKeyGuard)
export class BreaksController {
  constructor(
    private readonly reading: BreakReading,
    private readonly actions: BreakActions,
    private readonly policies: RefundPolicies,
    private readonly severity: SeveritySettings,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listBreaks)
  list(@FromCaller() { query, ...caller }: CallerInput<typeof listBreaks>) {
    return this.reading.list(caller, query);
  }

  @Handles(getBreak)
  get(@FromCaller() { params, ...caller }: CallerInput<typeof getBreak>) {
    return this.reading.get(caller, params.id);
  }

  @RequiresScope('reconcile')
  @CallsBank()
  @Handles(actOnBreaks)
  actOnMany(@FromCaller() request: CallerInput<typeof actOnBreaks>) {
    const { accountId, body } = request;
    return this.idempotency.runOnce({ accountId, route: actOnBreaks, request }, (steps) =>
      this.actions.actOnMany(request, body, steps),
    );
  }

  @RequiresScope('reconcile')
  @CallsBank()
  @Responds(refundRefused)
  @Handles(actOnBreak)
  act(@FromCaller() request: CallerInput<typeof actOnBreak>) {
    const { accountId, params, body } = request;
    const { id } = params;
    return this.idempotency.runOnce({ accountId, route: actOnBreak, request }, async (steps) => {
      await this.actions.act(request, id, body, (tx) => steps.record(tx, 'act', {}));
      // It is stored, and repeated for other keys of the account.
      return this.reading.get({ accountId, scopes: [] }, id);
    });
  }

  @Handles(getRefundPolicies)
  refundPolicies(@CalledBy() { accountId }: Caller) {
    return this.policies.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeRefundPolicies)
  changePolicies(@FromCaller() request: CallerInput<typeof changeRefundPolicies>) {
    const { accountId, actor, scopes, body } = request;
    // A policy sends money, so switching it on needs the scope `refund` too.
    if (!scopes.includes('refund')) throw missingScope('refund');
    return this.idempotency.runOnce({ accountId, route: changeRefundPolicies, request }, () =>
      this.policies.change(accountId, body, actor),
    );
  }

  @Handles(getSeveritySteps)
  severitySteps(@CalledBy() { accountId }: Caller) {
    return this.severity.get(accountId);
  }

  @RequiresScope('reconcile')
  @Handles(changeSeveritySteps)
  changeSeverity(@FromCaller() request: CallerInput<typeof changeSeveritySteps>) {
    const { accountId, actor, body } = request;
    return this.idempotency.runOnce({ accountId, route: changeSeveritySteps, request }, () =>
      this.severity.change(accountId, body, actor),
    );
  }
}
