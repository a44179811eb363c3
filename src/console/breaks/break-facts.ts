// Everything that the page of a break shows.
import type { BreakComments } from '../../reconciliation/breaks/break-comments.service.js';
import type { BreakDetail } from '../../reconciliation/breaks/break-reading.service.js';
import type { LineSide, PaymentSide } from '../../reconciliation/breaks/break-sides.service.js';
import type { EarlierMovements } from '../../reconciliation/breaks/counterparty-history.service.js';
import type { Assignee } from './break-words.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';

type Listed = Awaited<ReturnType<BreakComments['list']>>['data'];

export type Candidate = BreakDetail['candidates'][number];
export interface Picked {
  text: string;
  candidates: readonly Candidate[];
}

export interface BreakFacts {
  found: BreakDetail;
  /** What a person searched for, and what may be linked of it; null without a search. */
  picked: Picked | null;
  /** Of the break, its candidates and what was found. */
  lines: ReadonlyMap<bigint, LineSide>;
  payments: ReadonlyMap<string, PaymentSide>;
  /** Newest first. */
  comments: readonly Listed[number][];
  hasOlder: boolean;
  /** Null where nothing identifies the counterparty. */
  before: EarlierMovements | null;
  /** The break that follows in the list. */
  nextId: string | null;
  nameOf: NameOfActor;
  /** The active ones of the account. */
  reasonCodes: readonly GivenCode[];
  /** Who may work on it. */
  people: readonly Assignee[];
}

/** A reason code as a form has it. */
export interface GivenCode {
  code: string;
  name: string;
}

export interface BreakViewProps {
  facts: BreakFacts;
  /** The filters of the list from which the break was opened, and its place beside that list. */
  address: URLSearchParams;
  mayRefund: boolean;
  /** Whether it stands beside the list. */
  isInQueue: boolean;
}
