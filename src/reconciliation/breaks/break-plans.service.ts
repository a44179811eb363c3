// Who works on a break, and until when the list of work leaves it out. All of a request is done, or
// nothing of it; what changes is recorded in the history of each break.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { listRolesIn } from '../../access/people/operators.queries.js';
import { isAllowed } from '../../access/people/roles.js';
import { addDays } from '../../brazil/calendar.js';
import { AppError, conflict, invalidField } from '../../platform/errors.js';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { lockReconciliation } from '../apply/decision-writer.queries.js';
import * as queries from './break-plans.queries.js';

const maxSnoozeDays = 366;

@Injectable()
export class BreakPlans {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
  ) {}

  /** Throws `not_found` where one of the breaks is of no account of the caller. */
  assign(caller: Caller, { ids, assignee }: { ids: readonly string[]; assignee: string | null }) {
    return this.change(caller, ids, 'assign', async (tx) => {
      const [found] = assignee === null ? [] : await listRolesIn(tx, caller.accountId, [assignee]);
      if (assignee !== null && !isAllowed(found?.role ?? null, 'resolve breaks'))
        throw invalidField('$.assignee', 'Must be the id of a person who may resolve breaks.');
      return { part: ['assignee_id', assignee], detail: { assignee } };
    });
  }

  /** Throws as `assign`, and `conflict` where one of them is resolved. */
  snooze(caller: Caller, { ids, until }: { ids: readonly string[]; until: string | null }) {
    return this.change(caller, ids, 'snooze', (_, { today, found }) => {
      if (until !== null && (until <= today || until > addDays(today, maxSnoozeDays)))
        throw invalidField('$.until', 'Must be a day within a year after today.');
      if (until !== null && found.some(({ state }) => state === 'resolved'))
        throw conflict('already_resolved', 'The break is already resolved.');
      return Promise.resolve({ part: ['snoozed_until', until], detail: { until } });
    });
  }

  async countSnoozed(accountId: number): Promise<bigint> {
    const today = await this.bankTime.today(accountId);
    return queries.countSnoozed(this.database.prisma, accountId, today);
  }

  private async change(
    { accountId, actor }: Caller,
    given: readonly string[],
    action: 'assign' | 'snooze',
    read: (
      tx: Tx,
      about: { today: string; found: readonly { state: string }[] },
    ) => Promise<{
      part: Parameters<typeof queries.writePlans>[3];
      detail: Record<string, string | null>;
    }>,
  ) {
    const ids = [...new Set(given.map((id) => id.toLowerCase()))];
    const today = await this.bankTime.today(accountId);
    const plans = await this.database.transaction(async (tx) => {
      // As for each action on a break: a policy that checks the break sees every earlier action.
      await lockReconciliation(tx, accountId);
      const found = await queries.lockBreaks(tx, accountId, ids);
      if (found.length !== ids.length) throw new AppError('not_found');
      const { part, detail } = await read(tx, { today, found });
      const changed = await queries.writePlans(tx, accountId, ids, part);
      await tx.breakHistoryEntry.createMany({
        data: changed.map((breakId) => ({ accountId, breakId, action, actor, detail })),
      });
      return queries.listPlans(tx, accountId, ids, today);
    });
    const byId = new Map(plans.map((plan) => [plan.breakId, plan]));
    return { data: ids.map((id) => ({ id, ...describePlan(byId.get(id)) })) };
  }
}

/** As the API has it. */
export const describePlan = (plan: queries.ShownPlan | undefined) => ({
  assignee: plan?.assigneeId ?? null,
  snoozedUntil: plan?.snoozedUntil ?? null,
});
