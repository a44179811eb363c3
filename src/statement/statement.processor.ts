import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { StatementService } from './statement.service.js';

@Processes('syncStatement')
export class StatementProcessor extends JobProcessor<'syncStatement'> {
  constructor(private readonly statement: StatementService) {
    super();
  }

  protected async run({ accountId }: JobPayload<'syncStatement'>): Promise<void> {
    await this.statement.sync(accountId);
  }
}
