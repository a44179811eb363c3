import { JobProcessor, Processes } from '../../platform/job-processor.js';
import type { JobPayload } from '../../queues.js';
import { RunsService } from './runs.service.js';

@Processes('runReconciliation')
export class RunProcessor extends JobProcessor<'runReconciliation'> {
  constructor(private readonly runs: RunsService) {
    super();
  }

  protected async run({ accountId, runId }: JobPayload<'runReconciliation'>): Promise<void> {
    await this.runs.perform(accountId, runId);
  }
}
