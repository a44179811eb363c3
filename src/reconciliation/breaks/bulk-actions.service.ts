// Applies one action to many breaks, one after the other, each in its own transaction.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../accounts/api-keys.service.js';
import type { RouteInput, RouteOutput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { AppError } from '../../platform/errors.js';
import { isUuid } from '../../platform/listing.js';
import { BreakActions } from './break-actions.service.js';
import { findBreakRow, listBreakIds } from './break-reading.queries.js';
import { maxBulk, type actOnBreaks, type bulkActions } from './breaks.schema.js';

type BulkRequest = RouteInput<typeof actOnBreaks>['body'];
type Outcome = RouteOutput<typeof actOnBreaks>['data'][number];

@Injectable()
export class BulkActions {
  constructor(
    private readonly database: Database,
    private readonly actions: BreakActions,
  ) {}

  async act(caller: Caller, request: BulkRequest): Promise<RouteOutput<typeof actOnBreaks>> {
    if (request.action === 'refund' && !caller.scopes.includes('refund'))
      throw new AppError('forbidden');
    const ids = request.ids ?? (await this.listFiltered(caller.accountId, request));
    const data: Outcome[] = [];
    // Ids are compared without regard to case.
    for (const id of new Set(ids.map((one) => one.toLowerCase())))
      data.push(await this.actOnOne(caller, id, request));
    const count = (outcome: Outcome['outcome']) =>
      data.filter((one) => one.outcome === outcome).length;
    const counts = {
      done: count('done'),
      unchanged: count('unchanged'),
      refused: count('refused'),
    };
    return { data, counts };
  }

  private async listFiltered(
    accountId: number,
    { filter, action }: BulkRequest,
  ): Promise<string[]> {
    if (!filter) return [];
    return listBreakIds(this.database.prisma, accountId, {
      state: action === 'reopen' ? 'resolved' : 'open',
      kind: filter.kind,
      openedBefore: filter.openedBefore ?? null,
      maxCents: filter.maxAmount ?? null,
      limit: maxBulk,
    });
  }

  private async actOnOne(caller: Caller, id: string, request: BulkRequest): Promise<Outcome> {
    const { action, reason } = request;
    const before = await this.find(caller.accountId, id);
    const outcome = { id, code: null, title: null };
    if (before && isAlreadyDone(before, action))
      return { ...outcome, outcome: 'unchanged', state: before.state };
    try {
      await this.actions.act(caller, id, { action, reason });
    } catch (error) {
      // An AppError concerns this break or the bank and is reported; a bug is thrown.
      if (!(error instanceof AppError)) throw error;
      const { code, details } = error;
      const title = details.public ?? null;
      const state = before?.state ?? null;
      return { id, outcome: 'refused', state, code: details.reason ?? code, title };
    }
    const after = await this.find(caller.accountId, id);
    return { ...outcome, outcome: 'done', state: after?.state ?? null };
  }

  private async find(accountId: number, id: string) {
    return isUuid(id) ? findBreakRow(this.database.prisma, accountId, id) : null;
  }
}

function isAlreadyDone(
  { state, resolution }: { state: string; resolution: string | null },
  action: (typeof bulkActions)[number],
): boolean {
  if (action === 'reopen') return state === 'open';
  return state === 'resolved' && resolution === action;
}
