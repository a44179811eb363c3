import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { ReconciliationService } from './reconciliation.service.js';

@Processes('reconcile')
export class ReconciliationProcessor extends JobProcessor<'reconcile'> {
  constructor(private readonly reconciliation: ReconciliationService) {
    super();
  }

  protected async run({ accountId }: JobPayload<'reconcile'>): Promise<void> {
    await this.reconciliation.reconcile(accountId);
  }
}
