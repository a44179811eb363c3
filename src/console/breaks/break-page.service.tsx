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
import { Shown } from '../page.js';
import { callerOf, type Visit } from '../visit.js';
import { addressOfChosen, readBreakList } from './break-list.js';
import type { BreakFacts } from './break-facts.js';
import { BreakView } from './break-view.js';
import { kindOf } from './break-words.js';
import { LinkPicking } from './link-picking.service.js';
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

  /** Whether the break has no longer the state that its list selects. */
  async hasLeft(visit: Visit, id: string, state: string): Promise<boolean> {
    const [now] = await this.reading.listByIds(callerOf(visit), [id]);
    return now !== undefined && now.state !== state;
  }

  private async read(visit: Visit, id: string): Promise<BreakFacts> {
    const caller = callerOf(visit);
    const found = await this.reading.get(caller, id);
    const { candidates, nsu, expectedPaymentId, history } = found;
    const picked = await this.picking.find(visit, found);
    const compared = [found, ...candidates, ...(picked?.candidates ?? [])];
    const nsus = compared.flatMap((one) => one.nsu ?? []);
    const ids = compared.flatMap((one) => one.expectedPaymentId ?? []);
    const [lines, payments, comments, before, nextId, codes] = await Promise.all([
      this.sides.findLines(caller, nsus),
      this.sides.findPayments(caller, ids),
      this.comments.list(caller, id, { limit: shownComments }),
      this.history.find(caller.accountId, { id, nsu, expectedPaymentId }),
      this.findNext(visit, id),
      this.codes.get(caller.accountId),
    ]);
    const written = [...comments.data];
    const nameOf = await this.names.find(visit, [
      ...history.map(({ actor }) => actor),
      ...written.map(({ author }) => author),
    ]);
    const hasOlder = comments.next !== null;
    const reasonCodes = codes.data.filter(({ isActive }) => isActive);
    const sides = { found, picked, lines, payments };
    return { ...sides, comments: written, hasOlder, before, nextId, nameOf, reasonCodes };
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
