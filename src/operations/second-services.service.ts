// Stops an account whose key another service uses, such as a staging system with a copy of the
// database: a debit whose key or externalId bears the mark of this installation, and is in no row
// of its journal. A person releases the account.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { NewMode } from '../accounts/account-modes.queries.js';
import { Database } from '../database.service.js';
import { Health } from '../platform/health.js';
import { Every } from '../platform/timer-methods.js';
import { AccountModes } from './account-modes.service.js';
import { hasMark } from './installation-mark.js';
import * as queries from './second-services.queries.js';

/** The stop that follows from what was seen. */
export function secondService(seen: string): NewMode {
  const reason = `second_service: another service uses the key of this bank account: ${seen}`;
  return { mode: 'stopped', registersWebhooks: undefined, actor: 'service', reason };
}

@Injectable()
export class SecondServices implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly modes: AccountModes,
    private readonly health: Health,
  ) {}

  onModuleInit(): void {
    this.health.addWarning('second services', () => this.findWarning());
  }

  @Every('second-services', 1_000)
  async stopWhereSeen(): Promise<void> {
    const stopped = new Set<string>();
    for (const debit of await queries.listSuspectDebits(this.database.sharedReads)) {
      const { nsu, slug, installation, idempotencyKey, externalId } = debit;
      const ids = [idempotencyKey, externalId]
        .filter((id) => id !== null)
        .filter((id) => hasMark(id, installation));
      if (ids.length === 0 || stopped.has(slug)) continue;
      if (await queries.isInJournal(this.database.prisma, ids)) continue;
      await this.modes.change(slug, secondService(`the debit ${nsu} has an id of this service`));
      stopped.add(slug);
    }
  }

  /** Without names: the health endpoints need no key. */
  async findWarning(): Promise<string | null> {
    const accounts = await queries.countUndetectable(this.database.prisma);
    return accounts === 0
      ? null
      : `A second service with the same bank key cannot be detected: ${accounts} bank accounts ` +
          'show neither webhook registrations nor ids on debits.';
  }
}
