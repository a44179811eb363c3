// What an outbound intent is, and what a kind of it must say. The journal knows no kind by name: the rooms
// that ask for something register theirs.
import type { BankAccount } from '../accounts/accounts.service.js';
import type { Route, RouteInput, RouteOutput } from '../contract/route.js';
import type { Tx } from '../database.service.js';
import type { NewExpectedPayment } from '../expected-payments/expected-payments.service.js';

export type OperationState =
  'received' | 'sending' | 'succeeded' | 'rejected' | 'unknown' | 'not_executed' | 'needs_operator';

export interface Operation {
  accountId: number;
  id: string;
  kind: string;
  state: OperationState;
  idempotencyKey: string | null;
  requestHash: string;
  /** JSON. */
  requestParams: string;
  /** JSON. */
  requestQuery: string;
  /** The exact body; null when the route has none. */
  requestBody: string | null;
  attempts: number;
  responseStatus: number | null;
  responseBody: string | null;
  reason: string | null;
  /** Who gets the money, in a normal form, and how much; null where none goes out. */
  counterparty: string | null;
  amountCents: bigint | null;
  /** Whether an id that the client chose, and that the statement shows, tells it from others. */
  isDistinguishable: boolean;
  /** Its outcome was unknown once, or its caller did not wait: its end is told by an event. */
  isDetached: boolean;
  /** An id or a status by which the bank has shown that it knows it. */
  bankReference: string | null;
  /** When it takes effect at the bank, where that is later than at once. */
  effectiveFrom: Date | null;
  endedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What the bank says of an operation when it is asked by an id. */
export type LookedUp<Answer> =
  /** It knows it: its answer, to the letter, and the id or status that shows it. */
  | { found: 'accepted'; status: number; text: string; answer: Answer; bankReference: string }
  /** It says that there is none. */
  | { found: 'absent' }
  /** It did not say. */
  | { found: 'unknown' }
  /** There is nothing that this one could be asked for by: it is as if the bank offered no such thing. */
  | { found: 'not_offered' };

/** How an operation came to be accepted. */
export interface Acceptance<Answer> {
  /** The bank's answer; null when it never came, and the statement shows the effect. */
  answer: Answer | null;
  /** Expected payments of it that were proven not to have been done: nothing will come of them. */
  absent?: readonly string[];
}

/** A kind of operation: which route it calls, and what its room does when the bank has answered. */
export interface OperationKind<R extends Route = Route> {
  /** snake_case, unique: `create_charge`. */
  name: string;
  route: R;
  /**
   * What a second sending is to the bank: `keyed` where the contract gives the request a key or an id that makes a
   * repeat the same (and the profile says that the bank holds to it), `another` where each request is one more, and
   * `never` where it holds secrets that are not kept.
   */
  repeat: 'keyed' | 'another' | 'never';
  /** Where a 202 leads, with the operation's id at its end; `/v1/operations/` where left out. */
  place?: string;
  /** Whether an answer speaks of what was asked: our amount, our ids. */
  echoes(input: RouteInput<R>, answer: RouteOutput<R>): boolean;
  /**
   * The bank accepted it, in the transaction of the verdict: the room notes what the answer tells. Called again,
   * with the same or with more, when a verdict is revoked or an answer comes after the statement's evidence.
   */
  onSucceeded?(tx: Tx, operation: Operation, acceptance: Acceptance<RouteOutput<R>>): Promise<void>;
  /** The bank rejected it, or it was proven not executed, in the transaction of the verdict: the room frees what it had taken. */
  onRejected(tx: Tx, operation: Operation): Promise<void>;
  /**
   * A part of it is on the statement, after it was proven not executed: the rest is open again, in the transaction
   * of that verdict. Only called for what makes several movements.
   */
  onReopened?(tx: Tx, operation: Operation): Promise<void>;
  /**
   * When it may have its effect at the latest, where that is later than its last sending: a bill that is paid at the
   * next business hour. Both times are the bank's.
   */
  latestEffect?(operation: Operation, lastSendBy: Date): Date;
  /**
   * Whether an answer that is no verdict in general is this kind's: a 409 that says that the thing is there already,
   * to the first request that left.
   */
  isRefusal?(answer: { status: number; text: string }): boolean;
  /**
   * What is kept of an answer to a request that holds secrets, of which the bank may have repeated any. Of a kind that
   * repeats `never` and has none, no answer is kept.
   */
  redactAnswer?(input: RouteInput<R>, text: string): string;
  /**
   * Asks the bank by an id that was known before its answer; only called where the profile has status by id. What the
   * bank made before `since`, by its own clock, is not this one's.
   */
  lookUp?(
    account: BankAccount,
    operation: Operation,
    since: Date,
  ): Promise<LookedUp<RouteOutput<R>>>;
}

/** Money that goes out, as far as another request for the same can be told from it. */
export interface Outgoing {
  /** In a normal form: `ispb/branch/number`, an account's number, a bar code, the nsu of a refunded Pix. */
  counterparty: string;
  amountCents: bigint;
  /** Whether an id that the client chose, and that the statement shows, tells it from others. */
  isDistinguishable: boolean;
}

/** What a caller wishes beyond the request itself. */
export interface RequestPreferences {
  /** `Prefer: respond-async`: 202 at once. */
  respondAsync: boolean;
  /** The caller insists that a possible duplicate is none. */
  allowDuplicate: boolean;
}

export const noPreferences: RequestPreferences = { respondAsync: false, allowDuplicate: false };

/** One intent, as a room hands it over. */
export interface OperationRequest<R extends Route = Route> {
  accountId: number;
  /** The caller's own key; null when none came. */
  idempotencyKey: string | null;
  /** What makes a repeat the same intent without a key (a correlationId); null when nothing does. */
  naturalIdentity: string | null;
  /** Without a key, the same request is the same intent while the operation is not final and for ten minutes after. */
  joinsSameRequest: boolean;
  input: RouteInput<R>;
  /**
   * What is sent: the input with what its sender left out and the operation's id tells, such as the ids of its
   * movements. A repeat is compared by what its sender sent.
   */
  completeInput?(operationId: string): RouteInput<R>;
  /** The body as it is kept, where the exact one holds secrets: it is sent once, from memory, and never again. */
  redactedBody?: unknown;
  /** Money that goes out; null for what only asks for money. */
  outgoing: Outgoing | null;
  /** When it is to take effect at the bank, by its clock, where that was asked to be later. */
  effectiveFrom?: Date | null;
  preferences: RequestPreferences;
  expectedPayments: NewExpectedPayment[];
  /**
   * Writes the room's own rows, in the transaction of the operation; throws what a client of the bank must not do.
   */
  record(tx: Tx, operationId: string, expectedPaymentIds: string[]): Promise<void>;
}

/** Names the operation, beside the bank's own answer. */
export const operationHeader = 'Concilia-Operation';

const finalStates: ReadonlySet<OperationState> = new Set([
  'succeeded',
  'rejected',
  'not_executed',
  'needs_operator',
]);

export function isFinal(state: OperationState): boolean {
  return finalStates.has(state);
}
