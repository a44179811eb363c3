// What an operator does with a database that was set back to an earlier time: stop every account
// before the service starts, and release each account when the statement shows what was lost.
import { Injectable } from '@nestjs/common';
import { insertRestore } from '../../access/accounts/account-restores.queries.js';
import { changeMode, type NewMode } from '../../access/accounts/account-modes.queries.js';
import type { BankProfile } from '../../bank/profiles.js';
import { BankService } from '../../bank/bank.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import type { EventType } from '../../events/event-types.js';
import { insertEvents, skipPositions } from '../../events/events.queries.js';
import { conflict } from '../../platform/errors.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { newId } from '../../platform/ids.js';
import type { getAccountMode } from './account-modes.schema.js';
import { AccountModes } from './account-modes.service.js';
import * as queries from './restores.queries.js';

/** How many lost debits a report lists for an account. */
const maxDebitsShown = 1_000;
const stopReason = 'restored: the database was set back to an earlier time';

/** An account with a restore that is not over. */
export interface RestoreReport extends queries.OngoingRestore {
  /** Why the account must not be released; null when it may be. */
  obstacle: string | null;
  lostDebits: queries.LostDebit[];
}

/** What `concilia restored` has recorded for an account. */
export interface RecordedRestore {
  slug: string;
  formerMode: queries.OngoingRestore['formerMode'];
  /** Unfinished operations, which are looked for on the statement and send no money again. */
  unfinished: number;
}

type Bound = Pick<BankProfile, 'visibilityBoundMs'>;

/**
 * Records that the database was set back, and stops every live account. No process of the service
 * may run: an attempt that it makes meanwhile would be recorded as one of before.
 */
export async function recordRestore(database: Database, actor: string): Promise<RecordedRestore[]> {
  return database.transaction(async (tx) => {
    const accounts = await tx.bankAccount.findMany({ orderBy: { id: 'asc' } });
    const recorded: RecordedRestore[] = [];
    for (const { id: accountId, slug, mode: formerMode } of accounts) {
      const unfinished = await queries.markUnfinishedOperations(tx, accountId);
      // After the end of the attempts, so that a statement closed over it covers them.
      await insertRestore(tx, accountId, formerMode);
      await skipPositions(tx, accountId);
      if (formerMode === 'live')
        await change(tx, { accountId, slug }, { mode: 'stopped', actor, reason: stopReason });
      recorded.push({ slug, formerMode, unfinished });
    }
    return recorded;
  });
}

/** The accounts of a restore that is not over, or one of them. */
export async function reportRestores(
  database: Database,
  { visibilityBoundMs }: Bound,
  slug: string | null = null,
): Promise<RestoreReport[]> {
  const { prisma } = database;
  const restores = await queries.listOngoingRestores(prisma, visibilityBoundMs, slug);
  return Promise.all(
    restores.map(async (restore) => ({
      ...restore,
      obstacle: obstacleOf(restore, visibilityBoundMs),
      lostDebits: await queries.listLostDebits(prisma, restore, maxDebitsShown),
    })),
  );
}

/**
 * Makes an account live that the restore has stopped. Throws `restore_not_checked` while the
 * statement does not show everything that may be lost, unless `isUnproven`: the operator has
 * compared the statement with the business systems.
 */
export async function releaseRestored(
  database: Database,
  restore: RestoreReport,
  { actor, isUnproven }: { actor: string; isUnproven: boolean },
): Promise<void> {
  if (restore.obstacle !== null && !isUnproven) throw notChecked(restore.obstacle);
  const reason =
    restore.obstacle === null
      ? 'restored: the statement was checked'
      : `restored: released without proof. ${restore.obstacle}`;
  await database.transaction((tx) => change(tx, restore, { mode: 'live', actor, reason }));
}

@Injectable()
export class RestoreGuard {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly modes: AccountModes,
  ) {}

  /** Throws `restore_not_checked` while the account must not become live. */
  async changeMode(slug: string, mode: NewMode): Promise<RouteOutput<typeof getAccountMode>> {
    if (mode.mode === 'live') await this.assertReleasable(slug);
    return this.modes.change(slug, mode);
  }

  /** As `changeMode`; after an alarm, two people make the account live. */
  async changeModeByPerson(slug: string, mode: NewMode) {
    if (mode.mode === 'live') await this.assertReleasable(slug);
    return this.modes.changeByPerson(slug, mode);
  }

  private async assertReleasable(slug: string): Promise<void> {
    const { visibilityBoundMs } = this.bank.profile;
    const { prisma } = this.database;
    for (const restore of await queries.listOngoingRestores(prisma, visibilityBoundMs, slug)) {
      const obstacle = obstacleOf(restore, visibilityBoundMs);
      if (obstacle !== null) throw notChecked(obstacle);
    }
  }
}

function obstacleOf(
  { isClosed, isDecided, unreadableLines }: queries.OngoingRestore,
  boundMs: number | null,
): string | null {
  if (boundMs === null)
    return 'The bank has no visibility bound, so nothing proves that the statement is complete.';
  if (!isClosed) return 'The statement is not closed yet over the time that may be lost.';
  if (!isDecided) return 'Lines of the time that may be lost are not decided yet.';
  return unreadableLines > 0n ? `${unreadableLines} lines of the statement are unreadable.` : null;
}

function notChecked(obstacle: string) {
  return conflict(
    'restore_not_checked',
    `The database was set back to an earlier time. ${obstacle} See \`concilia restored\`.`,
  );
}

/** Changes the mode, and whether webhooks are registered stays as it was. */
async function change(
  tx: Tx,
  { accountId, slug }: { accountId: number; slug: string },
  { mode, actor, reason }: { mode: 'live' | 'stopped'; actor: string; reason: string },
): Promise<void> {
  const { registersWebhooks } = await tx.bankAccount.findUniqueOrThrow({
    where: { id: accountId },
  });
  const changed = await changeMode(tx, accountId, { mode, registersWebhooks, actor, reason });
  if (!changed) return;
  const type: EventType = mode === 'live' ? 'account.released' : 'account.stopped';
  const data = stringifyJson({ slug, mode, actor, reason });
  await insertEvents(tx, accountId, [
    { events: [{ id: newId(), type, resourceKind: 'account', resourceId: slug }], data },
  ]);
}
