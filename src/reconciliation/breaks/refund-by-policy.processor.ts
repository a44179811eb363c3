import { JobProcessor, Processes } from '../../platform/job-processor.js';
import type { JobPayload } from '../../queues.js';
import { RefundPolicies } from './refund-policies.service.js';

@Processes('refundByPolicy')
export class RefundByPolicyProcessor extends JobProcessor<'refundByPolicy'> {
  constructor(private readonly policies: RefundPolicies) {
    super();
  }

  protected async run({ accountId }: JobPayload<'refundByPolicy'>): Promise<void> {
    await this.policies.apply(accountId);
  }
}
