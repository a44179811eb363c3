// Stops an account whose key another service uses, such as a staging system with a copy of the
// database: a debit whose key or externalId bears the mark of this installation, and is in no row
// of its journal. A person releases the account.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { Health } from '../../platform/http/health.js';
import { Every } from '../../platform/queue/timers.js';
import { AccountModes } from './account-modes.service.js';
import { createdAtMs, hasMark } from './installation-mark.js';
import * as queries from './second-services.queries.js';

const probeTimeoutMs = 1_000;

@Injectable()
export class SecondServices implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly modes: AccountModes,
    private readonly health: Health,
  ) {}

  onModuleInit(): void {
    this.health.addCheck('second services', { find: () => this.findWarning() });
    this.health.nameDatabase(() => this.nameOfDatabase());
  }

  @Every('second-services', 2)
  async stopWhereSeen(): Promise<void> {
    const stopped = new Set<string>();
    for (const debit of await queries.listSuspectDebits(this.database.prisma)) {
      const { nsu, slug, installation, idempotencyKey, externalId, restoredAtMs } = debit;
      const ids = [idempotencyKey, externalId]
        .filter((id) => id !== null)
        .filter((id) => hasMark(id, installation));
      if (ids.length === 0 || stopped.has(slug)) continue;
      // Of a database that was set back, this service sent what it lost.
      if (!ids.some((id) => createdAtMs(id) > (restoredAtMs ?? -1))) continue;
      if (await queries.isInJournal(this.database.prisma, ids)) continue;
      await this.stop(slug, `the debit ${nsu} has an id of this service`);
      stopped.add(slug);
    }
  }

  async stop(slug: string, seen: string): Promise<void> {
    const reason = `second_service: another service uses the key of this bank account: ${seen}`;
    const stop = { mode: 'stopped', registersWebhooks: undefined, actor: 'service' } as const;
    await this.modes.change(slug, { ...stop, reason });
  }

  /** Whether a service with another database than ours answers at a loopback address. */
  async isAnotherAt(url: string): Promise<boolean> {
    try {
      const response = await fetch(`${url}/health/database`, {
        ...{ redirect: 'error', signal: AbortSignal.timeout(probeTimeoutMs) },
      });
      const { name } = (await response.json()) as { name?: unknown };
      return typeof name === 'string' && name !== (await this.nameOfDatabase());
    } catch {
      // No service of this kind is there any more.
      return false;
    }
  }

  private nameOfDatabase(): Promise<string> {
    return queries.readNameOfDatabase(this.database.prisma);
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
