// The endpoints of approvals: the policy of the caller's account, and decisions by its keys with
// the scope `approve`.
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
import { Handles, Reply } from '../../platform/http/contract-route.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { readUuid } from '../../platform/http/listing.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import { ApprovalPolicies } from './approval-policies.service.js';
import {
  approvalPolicyView,
  changeApprovalPolicy,
  decideOperation,
  getApprovalPolicy,
} from './approvals.schema.js';
import { Approvals } from './approvals.service.js';
import { OperationDetails } from './operation-details.service.js';

const proposed = {
  status: 202,
  description: 'The change weakens the policy, and waits for a key of another holder.',
  body: { name: 'ApprovalPolicy', schema: approvalPolicyView },
};

@Controller()
@UseGuards(ApiKeyGuard)
export class ApprovalsController {
  constructor(
    private readonly policies: ApprovalPolicies,
    private readonly approvals: Approvals,
    private readonly details: OperationDetails,
  ) {}

  @Handles(getApprovalPolicy)
  getPolicy(@CalledBy() { accountId }: Caller) {
    return this.policies.get(accountId);
  }

  @RequiresScope('approve')
  @Responds(proposed)
  @Handles(changeApprovalPolicy)
  async changePolicy(@FromCaller() request: CallerInput<typeof changeApprovalPolicy>) {
    const { isProposed, view } = await this.policies.change(request, request.body);
    return isProposed ? new Reply(202, stringifyJson(z.encode(approvalPolicyView, view))) : view;
  }

  @RequiresScope('approve')
  @Handles(decideOperation)
  async decide(@FromCaller() request: CallerInput<typeof decideOperation>) {
    const { params, body } = request;
    const id = readUuid(params.id);
    await this.approvals.decide(request, id, body);
    return this.details.get(request, id);
  }
}
