import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { ChargeLife } from './charge-life.service.js';

@Processes('followCharges')
export class FollowChargesProcessor extends JobProcessor<'followCharges'> {
  constructor(private readonly life: ChargeLife) {
    super();
  }

  protected async run({ accountId }: JobPayload<'followCharges'>): Promise<void> {
    await this.life.follow(accountId);
  }
}
