// Makes the bank what it was on its first day. Requests wait or have ended; what the bank does by itself finds an
// empty table, or is waited for.
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Seeding } from './seeding.service.js';
import { AppError } from '../../platform/errors.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { ResetGate } from './reset-gate.service.js';
import { BankMemory } from './bank-memory.service.js';
import { emptyTables } from './reset.queries.js';

const attempts = 30;
const pauseMs = 100;
/** A table was held for too long, or two waited for each other. */
const held = ['55P03', '40P01'];

@Injectable()
export class Reset {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly door: ResetGate,
    private readonly seeding: Seeding,
    private readonly memory: BankMemory,
  ) {}

  async reset(): Promise<void> {
    await this.door.alone(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await this.beginAnew();
          return;
        } catch (cause) {
          if (!held.includes((cause as { code?: string }).code ?? '')) throw cause;
          if (attempt === attempts)
            throw new AppError('not_ready', { public: 'The bank is too busy to reset.', cause });
          await sleep(pauseMs);
        }
      }
    });
  }

  private async beginAnew(): Promise<void> {
    await this.database.transaction(async (tx) => {
      await emptyTables(tx);
      await this.seeding.openEmptyBank(tx);
      tx.afterCommit(() => this.memory.forget());
    });
  }
}
