// The job that syncs the statement: it reads one slice, then compares the statement with the
// balance that the bank reports.
import { Injectable } from '@nestjs/common';
import { OnJob } from '../platform/job-methods.js';
import type { JobPayload } from '../queues.js';
import { LiveBalance } from './live-balance.service.js';
import { StatementService } from './statement.service.js';

/**
 * Long enough to read many pages, short enough that the import of a new account does not delay
 * other accounts.
 */
const sliceMs = 10_000;

@Injectable()
export class StatementSync {
  constructor(
    private readonly statement: StatementService,
    private readonly balance: LiveBalance,
  ) {}

  @OnJob('syncStatement')
  async sync({ accountId }: JobPayload<'syncStatement'>): Promise<void> {
    await this.statement.sync(accountId, { sliceMs });
    await this.balance.compareWithBank(accountId);
  }
}
