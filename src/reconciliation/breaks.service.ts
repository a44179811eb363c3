// Opens breaks and settles those that settled themselves, and tells of both: the one place through which a break's state
// changes without a hand. What was done about each is written down by a trigger.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import { eventAmount } from '../events/event-amount.js';
import { EventsService, type EventType, type NewEvent } from '../events/events.service.js';
import {
  insertBreaks,
  resolveOf,
  reviseBreaks,
  type NewBreak,
  type ReportedBreak,
} from './breaks.queries.js';

export type { NewBreak } from './breaks.queries.js';

@Injectable()
export class Breaks {
  constructor(private readonly events: EventsService) {}

  /**
   * Each once for its kind and subject, where its kind can come about again: one that settled itself is opened again, and
   * one that a person settled when it has come to more, or is said to be nothing of that.
   */
  async open(tx: Tx, accountId: number, breaks: NewBreak[]): Promise<void> {
    await this.tell(tx, accountId, 'break.opened', await insertBreaks(tx, accountId, breaks));
  }

  /** Open breaks whose figures have changed since: what they are about stays. */
  async revise(tx: Tx, accountId: number, breaks: NewBreak[]): Promise<void> {
    await reviseBreaks(tx, accountId, breaks);
  }

  /** The missing evidence came: open breaks of this kind about these subjects are over. */
  async resolve(tx: Tx, accountId: number, kind: string, subjects: string[]): Promise<void> {
    await this.reportResolved(tx, accountId, await resolveOf(tx, accountId, kind, subjects));
  }

  /** Tells of breaks that a statement of its own has resolved. */
  async reportResolved(tx: Tx, accountId: number, resolved: ReportedBreak[]): Promise<void> {
    await this.tell(tx, accountId, 'break.resolved', resolved);
  }

  /** Tells of breaks that a person has opened again. */
  async reportOpened(tx: Tx, accountId: number, opened: ReportedBreak[]): Promise<void> {
    await this.tell(tx, accountId, 'break.opened', opened);
  }

  private async tell(
    tx: Tx,
    accountId: number,
    type: Extract<EventType, `break.${string}`>,
    breaks: ReportedBreak[],
  ): Promise<void> {
    await this.events.record(
      tx,
      accountId,
      breaks.map((told) => ({ type, data: dataOf(told) })),
    );
  }
}

function dataOf({ id, kind, amountCents, nsu, ...told }: ReportedBreak): NewEvent['data'] {
  return {
    breakId: id,
    breakKind: kind,
    amount: amountCents === null ? null : eventAmount(amountCents),
    nsu,
    expectedPaymentId: told.expectedPaymentId,
    resolution: told.resolution,
  };
}
