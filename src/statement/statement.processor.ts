import { JobProcessor, Processes } from '../platform/job-processor.js';
import type { JobPayload } from '../queues.js';
import { LiveBalance } from './live-balance.service.js';
import { StatementService } from './statement.service.js';

/** Long enough to read much, and short enough that accounts whose turn it is do not wait for one that is new. */
const sliceMs = 10_000;

@Processes('syncStatement')
export class StatementProcessor extends JobProcessor<'syncStatement'> {
  constructor(
    private readonly statement: StatementService,
    private readonly balance: LiveBalance,
  ) {
    super();
  }

  protected async run({ accountId }: JobPayload<'syncStatement'>): Promise<void> {
    await this.statement.sync(accountId, { sliceMs });
    await this.balance.ask(accountId);
  }
}
