import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { WebhooksService } from './webhooks.service.js';

@Processes('settleWebhooks')
export class SettleWebhooksProcessor extends JobProcessor<'settleWebhooks'> {
  constructor(private readonly webhooks: WebhooksService) {
    super();
  }

  protected async run({ accountId }: JobPayload<'settleWebhooks'>): Promise<void> {
    await this.webhooks.settle(accountId);
  }
}
