import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { OperationRecovery } from './operation-recovery.service.js';

@Processes('advanceOperation')
export class OperationsProcessor extends JobProcessor<'advanceOperation'> {
  constructor(private readonly recovery: OperationRecovery) {
    super();
  }

  protected async run({ accountId, operationId }: JobPayload<'advanceOperation'>): Promise<void> {
    await this.recovery.advance(accountId, operationId);
  }
}
