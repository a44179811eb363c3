// Changes what is sent to the bank for an account. It reaches no other process: each of them reads
// the mode in the transaction that records an attempt, and again just before the request is
// written, if it has not just done so.
import { setTimeout as sleep } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  changeMode,
  countModes,
  findAlarmStop,
  lockMode,
  readSendingRules,
  stopForAlarm,
  type NewMode,
  type RecordedChange,
} from '../../access/accounts/account-modes.queries.js';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { EventType } from '../../events/event-types.js';
import { EventsService } from '../../events/events.service.js';
import { Health } from '../../platform/http/health.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import type { getAccountMode } from './account-modes.schema.js';
import { findEntitled, lockActors } from './entitled-actors.queries.js';
import { countUnfinished } from './operations.queries.js';

const maxChangesShown = 100;
const eventTypeOf: Record<NewMode['mode'], EventType> = {
  live: 'account.released',
  stopped: 'account.stopped',
  reconcile_only: 'account.reconcile_only',
};

@Injectable()
export class AccountModes implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly events: EventsService,
    private readonly health: Health,
    @InjectQueue(jobs.registerWebhooks.name)
    private readonly registerWebhooksQueue: JobQueue<'registerWebhooks'>,
  ) {}

  onModuleInit(): void {
    this.health.addCheck('account modes', { find: () => this.findWarning() });
  }

  /** Takes effect with the commit. A repeat changes nothing. */
  async change(slug: string, mode: NewMode): Promise<RouteOutput<typeof getAccountMode>> {
    const { id: accountId } = await this.accounts.getBySlug(slug);
    await this.apply(accountId, slug, (tx) => changeMode(tx, accountId, mode));
    return this.get(slug);
  }

  /** The first of these debits that may stop the account does: nobody requested it. */
  async stopForAlarm(accountId: number, lines: readonly bigint[]): Promise<void> {
    const { slug } = await this.accounts.get(accountId);
    await this.apply(accountId, slug, (tx) => stopForAlarm(tx, accountId, lines));
  }

  /**
   * What an alarm has stopped, a person makes live again once another person has asked for it. Only
   * people who could sign in before the stop count; where there are no two, the admin key is left.
   */
  async changeByPerson(slug: string, mode: NewMode): Promise<RouteOutput<typeof getAccountMode>> {
    const { id: accountId } = await this.accounts.getBySlug(slug);
    await this.apply(accountId, slug, async (tx) => {
      await lockMode(tx, accountId);
      const stop = mode.mode === 'live' ? await findAlarmStop(tx, accountId) : null;
      if (!stop) return changeMode(tx, accountId, mode);
      const { alarmNsu, stoppedAt, requestedBy } = stop;
      const actors = [...new Set([mode.actor, ...requestedBy])];
      await lockActors(tx, accountId, actors);
      const action = 'manage connections';
      const entitled = await findEntitled(tx, accountId, actors, action, stoppedAt);
      if (!entitled.has(mode.actor)) return null;
      if (entitled.size > 1) return changeMode(tx, accountId, mode);
      if (requestedBy.includes(mode.actor)) return null;
      const present = await readSendingRules(tx, accountId);
      const reason = `release_requested: ${mode.reason}`;
      return changeMode(tx, accountId, { ...mode, ...present, reason, alarmNsu });
    });
    return this.get(slug);
  }

  private async apply(
    accountId: number,
    slug: string,
    work: (tx: Tx) => Promise<RecordedChange | null>,
  ): Promise<void> {
    const changed = await this.database.transaction(async (tx) => {
      const change = await work(tx);
      if (change?.isNewMode) {
        const type = eventTypeOf[change.mode];
        const { actor, reason } = change;
        const data = { slug, mode: change.mode, actor, reason };
        this.events.record(tx, accountId, [
          { type, resource: { kind: 'account', id: slug }, data },
        ]);
      }
      return change;
    });
    if (changed) {
      // By then, calls that go by the account as it was before are recorded, and counted below.
      await sleep(this.accounts.recentAccountMs);
      await this.events.enqueueDeliveries(accountId);
      await this.registerWebhooksQueue.enqueue({ accountId });
    }
  }

  /** The calls are counted after the commit of a change: no other call is sent after it. */
  async get(slug: string): Promise<RouteOutput<typeof getAccountMode>> {
    const { prisma } = this.database;
    const { id: accountId, mode, registersWebhooks } = await this.accounts.getBySlug(slug);
    const counts = await countUnfinished(prisma, accountId);
    const stop = await findAlarmStop(prisma, accountId);
    const changes = await prisma.accountModeChange.findMany({
      where: { accountId },
      orderBy: { sequence: 'desc' },
      take: maxChangesShown,
    });
    return {
      ...{ slug, mode, registersWebhooks },
      ...counts,
      alarmNsu: stop?.alarmNsu ?? null,
      releaseRequestedBy: stop?.requestedBy ?? [],
      changes: changes.map((change) => ({ ...change, at: change.createdAt })),
    };
  }

  /** Without names: the health endpoints need no key. */
  private async findWarning(): Promise<string | null> {
    const counts = await countModes(this.database.prisma);
    const inMode = (mode: NewMode['mode']) =>
      counts.find((counted) => counted.mode === mode)?.accounts ?? 0;
    const parts = [
      ...(inMode('stopped') > 0 ? [`${inMode('stopped')} stopped`] : []),
      ...(inMode('reconcile_only') > 0 ? [`${inMode('reconcile_only')} reconcile-only`] : []),
    ];
    return parts.length > 0 ? `Bank accounts to which nothing is sent: ${parts.join(', ')}.` : null;
  }
}
