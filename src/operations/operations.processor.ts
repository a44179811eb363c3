import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { OperationSender } from './operation-sender.service.js';

@Processes('advanceOperation')
export class OperationsProcessor extends JobProcessor<'advanceOperation'> {
  constructor(private readonly sender: OperationSender) {
    super();
  }

  protected async run({ accountId, operationId }: JobPayload<'advanceOperation'>): Promise<void> {
    await this.sender.advance(accountId, operationId);
  }
}
