// Opens breaks, resolves them and records the events of both. Every automatic change of a break's
// state is reported here; a database trigger writes the break history.
import { Injectable } from '@nestjs/common';
import type { SqlTx } from '../../platform/postgres/database.service.js';
import { eventAmount, type NewEvent } from '../../events/event.js';
import type { EventType } from '../../events/event-types.js';
import { EventsService } from '../../events/events.service.js';
import { known } from '../../statement/expected-payments/event-subjects.queries.js';
import { recordStatementTask } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import {
  insertBreaks,
  resolveBreaks,
  reviseBreaks,
  listUnreportedStatementBreaks,
  resolveEndedStatementBreaks,
  type NewBreak,
  type ReportedBreak,
} from './break-writer.queries.js';
import { recordChangedBreaks } from './reconciliation-metrics.service.js';

export type { NewBreak } from './break-writer.queries.js';

/** Unreadable lines without a break; the next task opens the breaks of the others. */
const pageSize = 1_000;

@Injectable()
export class BreakWriter {
  constructor(private readonly events: EventsService) {}

  /**
   * Opens each break once per kind and subject. A break resolved automatically is reopened. A break
   * that a person resolved is reopened only for a larger amount, or when `isBeyondSettlement` is
   * set.
   */
  async open(tx: SqlTx, accountId: number, breaks: NewBreak[]): Promise<void> {
    this.reportOpened(tx, accountId, await insertBreaks(tx, accountId, breaks));
  }

  /** Updates the amounts and evidence of open breaks. Their subjects do not change. */
  async revise(tx: SqlTx, accountId: number, breaks: NewBreak[]): Promise<void> {
    await reviseBreaks(tx, accountId, breaks);
  }

  /** Resolves the open breaks of this kind and these subjects: their cause is gone. */
  async resolve(tx: SqlTx, accountId: number, kind: string, subjects: string[]): Promise<void> {
    this.reportResolved(tx, accountId, await resolveBreaks(tx, accountId, kind, subjects));
  }

  /** Reports breaks that another query has resolved. */
  reportResolved(tx: SqlTx, accountId: number, resolved: ReportedBreak[]): void {
    recordChangedBreaks(tx, 'resolved', resolved);
    this.recordEvents(tx, accountId, 'break.resolved', resolved);
  }

  /** Reports breaks that another query has opened, or opened again. */
  reportOpened(tx: SqlTx, accountId: number, opened: ReportedBreak[]): void {
    recordChangedBreaks(tx, 'opened', opened);
    this.recordEvents(tx, accountId, 'break.opened', opened);
  }

  /**
   * Opens and resolves the breaks of the statement itself, when a sync has changed what they are
   * about. Returns whether any break changed: the caller then delivers the events.
   */
  async refreshStatementBreaks(tx: SqlTx, accountId: number): Promise<boolean> {
    const unreported = await listUnreportedStatementBreaks(tx, accountId, pageSize);
    await this.open(tx, accountId, unreported);
    // The jumps of a gap may have changed since its break was opened.
    await this.revise(tx, accountId, unreported);
    if (unreported.length >= pageSize) await recordStatementTask(tx, accountId);
    const resolved = await resolveEndedStatementBreaks(tx, accountId);
    this.reportResolved(tx, accountId, resolved);
    return unreported.length + resolved.length > 0;
  }

  private recordEvents(
    tx: SqlTx,
    accountId: number,
    type: Extract<EventType, `break.${string}`>,
    breaks: ReportedBreak[],
  ): void {
    this.events.record(
      tx,
      accountId,
      breaks.map((one) => ({
        type,
        resource: { kind: 'break', id: one.id },
        data: dataOf(one),
      })),
    );
  }
}

function dataOf({ id, kind, amountCents, nsu, ...others }: ReportedBreak): NewEvent['data'] {
  return {
    breakId: id,
    breakKind: kind,
    amount: amountCents === null ? null : eventAmount(amountCents),
    nsu,
    expectedPaymentId: others.expectedPaymentId,
    resolution: others.resolution,
    ...known({
      operationId: others.operationId,
      correlationId: others.correlationId,
      externalId: others.externalId,
      metadata: others.metadata,
    }),
  };
}
