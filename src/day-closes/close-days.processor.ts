import { AccountsService } from '../accounts/accounts.service.js';
import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { DayClosing } from './day-closing.service.js';

@Processes('closeDays')
export class CloseDaysProcessor extends JobProcessor<'closeDays'> {
  constructor(
    private readonly accounts: AccountsService,
    private readonly closing: DayClosing,
  ) {
    super();
  }

  protected async run({ accountId }: JobPayload<'closeDays'>): Promise<void> {
    await this.closing.close(await this.accounts.get(accountId));
  }
}
