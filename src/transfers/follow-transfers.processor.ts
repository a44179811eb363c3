import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { TransferFollower } from './transfer-follower.service.js';

@Processes('followTransfers')
export class FollowTransfersProcessor extends JobProcessor<'followTransfers'> {
  constructor(private readonly follower: TransferFollower) {
    super();
  }

  protected async run({ accountId }: JobPayload<'followTransfers'>): Promise<void> {
    await this.follower.follow(accountId);
  }
}
