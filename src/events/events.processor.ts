import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { DeliveryService } from './delivery.service.js';

@Processes('deliverEvents')
export class EventsProcessor extends JobProcessor<'deliverEvents'> {
  constructor(private readonly delivery: DeliveryService) {
    super();
  }

  protected async run({ accountId, endpointId }: JobPayload<'deliverEvents'>): Promise<void> {
    await this.delivery.deliverDue(accountId, endpointId);
  }
}
