// Opens and resolves the breaks of the statement itself, when a sync has changed what they are
// about.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { Breaks } from './breaks.service.js';
import * as queries from './statement-breaks.queries.js';

/** Unreadable lines without a break; the next task opens the breaks of the others. */
const pageSize = 1_000;

@Injectable()
export class StatementBreaks {
  constructor(private readonly breaks: Breaks) {}

  /** Returns whether any break changed: the caller then delivers the events. */
  async refresh(tx: Tx, accountId: number): Promise<boolean> {
    const unreported = await queries.listUnreportedStatementBreaks(tx, accountId, pageSize);
    await this.breaks.open(tx, accountId, unreported);
    // The jumps of a gap may have changed since its break was opened.
    await this.breaks.revise(tx, accountId, unreported);
    if (unreported.length >= pageSize) await recordStatementTask(tx, accountId);
    const resolved = await queries.resolveEndedStatementBreaks(tx, accountId);
    await this.breaks.reportResolved(tx, accountId, resolved);
    return unreported.length + resolved.length > 0;
  }
}
