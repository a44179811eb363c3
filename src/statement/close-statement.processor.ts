import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { StatementClosing } from './statement-closing.service.js';

@Processes('closeStatement')
export class CloseStatementProcessor extends JobProcessor<'closeStatement'> {
  constructor(private readonly closing: StatementClosing) {
    super();
  }

  protected async run({ accountId }: JobPayload<'closeStatement'>): Promise<void> {
    await this.closing.close(accountId);
  }
}
