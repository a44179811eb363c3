// Resets the bank to its initial state. New requests wait, and the running requests and a due task
// in progress end before. The reset deletes all other due tasks.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { BankSeeding } from './bank-seeding.service.js';
import { AppError } from '../../platform/errors.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { ResetGate } from './reset-gate.service.js';
import { InMemoryState } from './in-memory-state.service.js';
import { emptyBankTables } from './bank-reset.queries.js';

const attempts = 30;
const pauseMs = 100;
/** SQLSTATE of a lock timeout and of a deadlock. */
const lockFailures = ['55P03', '40P01'];

@Injectable()
export class BankReset {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly gate: ResetGate,
    private readonly seeding: BankSeeding,
    private readonly inMemoryState: InMemoryState,
  ) {}

  async reset(): Promise<void> {
    await this.gate.runAlone(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await this.resetOnce();
          return;
        } catch (cause) {
          if (!lockFailures.includes((cause as { code?: string }).code ?? '')) throw cause;
          if (attempt === attempts)
            throw new AppError('not_ready', {
              public: 'The bank is too busy to reset. Retry later.',
              cause,
            });
          await sleep(pauseMs);
        }
      }
    });
  }

  private async resetOnce(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await emptyBankTables(tx);
      await this.seeding.seedEmptyBank(tx);
      tx.afterCommit(() => this.inMemoryState.reset());
    });
  }
}
