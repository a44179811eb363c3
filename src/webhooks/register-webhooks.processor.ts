import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { WebhookRegistrar } from './webhook-registrar.service.js';

@Processes('registerWebhooks')
export class RegisterWebhooksProcessor extends JobProcessor<'registerWebhooks'> {
  constructor(private readonly registrar: WebhookRegistrar) {
    super();
  }

  protected async run({ accountId }: JobPayload<'registerWebhooks'>): Promise<void> {
    await this.registrar.register(accountId);
  }
}
