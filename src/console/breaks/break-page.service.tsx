// Reads and shows one break. A page of it runs some thirty look-ups by key, whatever the history.
import { Injectable } from '@nestjs/common';
import type { VNode } from 'preact';
import { BreakComments } from '../../reconciliation/breaks/break-comments.service.js';
import { BreakReading } from '../../reconciliation/breaks/break-reading.service.js';
import { BreakSides } from '../../reconciliation/breaks/break-sides.service.js';
import { ReasonCodes } from '../../reconciliation/breaks/reason-codes.service.js';
import { CounterpartyHistory } from '../../reconciliation/breaks/counterparty-history.service.js';
import { ActorNames } from '../actor-names.service.js';
import { Message } from '../kit/elements.js';
import { Redirect, Shown } from '../page.js';
import { callerOf, type Visit } from '../visit.js';
import { addressOfChosen, readBreakList, type BreakList } from './break-list.js';
import type { BreakFacts } from './break-facts.js';
import { BreakView } from './break-view.js';
import { kindOf } from './break-words.js';
import { LinkPicking } from './link-picking.service.js';
import { Assignees } from './assignees.service.js';
import { DoneMessage } from './done-message.js';

const shownComments = 50;

@Injectable()
export class BreakPage {
  constructor(
    private readonly reading: BreakReading,
    private readonly sides: BreakSides,
    private readonly comments: BreakComments,
    private readonly history: CounterpartyHistory,
    private readonly names: ActorNames,
    private readonly picking: LinkPicking,
    private readonly codes: ReasonCodes,
    private readonly assignees: Assignees,
  ) {}

  async show(visit: Visit, id: string): Promise<Shown> {
    return this.render(visit, await this.read(visit, id), null, 200);
  }

  /** The same beside the list, where the break is chosen. Throws `not_found`. */
  async viewInQueue(visit: Visit, id: string): Promise<VNode> {
    const address = addressOfChosen(readBreakList(visit.query), id);
    return this.view(visit, await this.read(visit, id), address, true);
  }

  /** The page with what was wrong, and with the present state of the break. */
  async refuse(visit: Visit, id: string, status: number, problem: string | null): Promise<Shown> {
    return this.render(visit, await this.read(visit, id), problem, status);
  }

  /** The break that follows in the list of the address; null if it is the last one. */
  async findNext(visit: Visit, id: string): Promise<string | null> {
    const { filters } = readBreakList(visit.query);
    return this.reading.findNextId(callerOf(visit), filters, id);
  }

  /** After a break has left the list, the next one of the list opens. */
  async goOn(visit: Visit, id: string, did: string): Promise<Redirect> {
    const { place, filters } = readBreakList(visit.query);
    place.set('did', did);
    if (!(await this.hasLeft(visit, id, filters))) return redirectTo(visit, id, place);
    const next = await this.findNext(visit, id);
    place.delete('break');
    place.set('from', id);
    if (next === null) place.set('last', '1');
    return redirectTo(visit, next, place);
  }

  /** Whether it has no longer the state that its list selects, or was put off. */
  private async hasLeft(visit: Visit, id: string, { state, snoozed }: BreakList['filters']) {
    const [now] = await this.reading.listByIds(callerOf(visit), [id]);
    if (!now) return false;
    return (
      (state !== undefined && now.state !== state) ||
      (snoozed === false && now.snoozedUntil !== null)
    );
  }

  private async read(visit: Visit, id: string): Promise<BreakFacts> {
    const caller = callerOf(visit);
    const found = await this.reading.get(caller, id);
    const { candidates, nsu, expectedPaymentId, history } = found;
    const picked = await this.picking.find(visit, found);
    const compared = [found, ...candidates, ...(picked?.candidates ?? [])];
    const nsus = compared.flatMap((one) => one.nsu ?? []);
    const ids = compared.flatMap((one) => one.expectedPaymentId ?? []);
    const [lines, payments, comments, before, nextId, people, reasonCodes] = await Promise.all([
      this.sides.findLines(caller, nsus),
      this.sides.findPayments(caller, ids),
      this.comments.list(caller, id, { limit: shownComments }),
      this.history.find(caller.accountId, { id, nsu, expectedPaymentId }),
      this.findNext(visit, id),
      this.assignees.list(visit),
      this.codes.listActive(caller.accountId),
    ]);
    const written = [...comments.data];
    const nameOf = await this.names.find(visit, [
      ...history.map(({ actor }) => actor),
      ...written.map(({ author }) => author),
    ]);
    const hasOlder = comments.next !== null;
    const sides = { found, picked, lines, payments };
    return { ...sides, comments: written, hasOlder, before, nextId, nameOf, reasonCodes, people };
  }

  private render(visit: Visit, facts: BreakFacts, problem: string | null, status: number): Shown {
    const { address } = readBreakList(visit.query);
    const body = (
      <>
        {problem !== null && <Message kind="bad">{problem}</Message>}
        {this.view(visit, facts, address, false)}
      </>
    );
    return new Shown(kindOf(visit.t, facts.found.kind), body, { status });
  }

  private view(visit: Visit, facts: BreakFacts, address: URLSearchParams, isInQueue: boolean) {
    const mayRefund = visit.may('request payments');
    return (
      <>
        <DoneMessage address={address} />
        <BreakView {...{ facts, address, mayRefund, isInQueue }} />
      </>
    );
  }
}

export const isInQueue = ({ query }: Visit): boolean => query.has('break');

/** A break, beside the list or on its own page as the one before; the list without one. */
export function redirectTo(visit: Visit, id: string | null, place: URLSearchParams): Redirect {
  if (id !== null && isInQueue(visit)) place.set('break', id);
  const to = id === null || isInQueue(visit) ? 'breaks' : `breaks/${id}`;
  return new Redirect(`${visit.to(to)}?${place.toString()}`);
}
