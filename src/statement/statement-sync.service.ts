// The statement's job: one slice of the statement is read, then the balance that the bank reports is compared with it.
import { Injectable } from '@nestjs/common';
import { OnJob } from '../platform/job-methods.js';
import type { JobPayload } from '../queues.js';
import { LiveBalance } from './live-balance.service.js';
import { StatementService } from './statement.service.js';

/** Long enough to read many pages, and short enough that a new account does not delay the others. */
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
    await this.balance.ask(accountId);
  }
}
