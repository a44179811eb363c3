// The types of the operation journal: what an operation is, and what a feature module declares to
// send an operation. The journal has no list of kinds: each feature module registers its own kinds.
//
// To add an outbound request: declare an `OperationKind` (route, repeat, callbacks), register it
// with `OperationsService.register` when the module starts, and pass an `OperationRequest` to
// `OperationsService.perform` for each request of a caller.
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import type { Route, RouteInput, RouteOutput } from '../../bank-contract/route.js';
import type { SqlTx, Tx } from '../../platform/postgres/database.service.js';
import type { NewExpectedPayment } from '../../statement/expected-payments/expected-payment.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import type { Payee, PaymentPurpose } from '../payment-controls/payment-controls.service.js';
import type { OperationSource } from './approval-policy.js';
import type { AppError } from '../../platform/errors.js';
import type { Operation as OperationRow, OperationState } from '../../generated/service/client.js';

export type { OperationState };

/** A row of the journal, without the time of its next step: only SQL compares that. */
export type Operation = Omit<OperationRow, 'nextActionAt'>;

/** The result of looking an operation up at the bank by an id. */
export type LookUpResult<Response> =
  /**
   * The bank knows the operation. `text` is the exact body; `bankReference` is the id or status.
   */
  | { outcome: 'accepted'; status: number; text: string; response: Response; bankReference: string }
  /** The bank shows that the operation had no effect, and that it can have none any more. */
  | { outcome: 'not_executed' }
  /** The bank reports that the operation does not exist. */
  | { outcome: 'absent' }
  /** The bank did not respond, or the response proves nothing. */
  | { outcome: 'unknown' }
  /** This operation has no id for a look-up. It is treated as if the bank offered no look-up. */
  | { outcome: 'not_offered' };

/** How an operation came to be accepted. */
export interface Acceptance<Response> {
  /** The bank's response; null when it never came and the statement shows the effect. */
  response: Response | null;
  /** Expected payments of the operation that were proven not executed. */
  absentExpectedPaymentIds?: readonly string[];
}

/** The bank's response to the first attempt of an operation. */
export interface Answer<Response> {
  /** Of the operation. */
  id: string;
  response: Response;
}

/**
 * A kind of operation: the bank route that it calls, how it may be repeated, and the callbacks by
 * which its feature module follows the outcome.
 */
export interface OperationKind<R extends Route = Route> {
  /** Of `src/bank-contract/operation-kinds.ts`; a test compares them. */
  name: string;
  route: R;
  /**
   * What the bank does with a second identical request:
   * - `keyed`: the contract gives the request a key or an id, so that a repeat has no second
   *   effect. It is resent only if the bank profile says that a repeat is safe.
   * - `unkeyed`: every request is a new effect. It is never resent.
   * - `never`: the request holds secrets, which are not stored. It cannot be resent.
   */
  repeat: 'keyed' | 'unkeyed' | 'never';
  /**
   * The path in the `Location` of a 202 response, before the operation's id. Default:
   * `/v1/operations/`.
   */
  resourcePath?: string;
  /**
   * The contract's status of what is under way, and of what moved nothing, as a 202 shows them.
   * Default: `PROCESSING` and `ERROR`.
   */
  statuses?: { open: string; failed: string };
  /**
   * What was sent, as the elements of a 202 where the contract's response is a list: one for each
   * item, with the id of its resource. Default: a 202 is one object, with the operation's id.
   */
  pendingItems?(operation: Operation): readonly (object & { id: string })[];
  /**
   * Writes the module's own rows of one or several requests, in the statement that inserts their
   * operations: what `rowOf` returns for each. Where a rule of the database stands against one of
   * them, a write has fewer rows than it should (`joined-writes.queries.ts`), and each of the
   * requests is then stored alone.
   */
  rowWrites?(accountId: number, rows: readonly unknown[]): Write[];
  /**
   * Why the writes of one row are not complete, as the error for its caller. Default: `conflict`.
   * Runs in the transaction of the writes, which is then rolled back.
   */
  refusalOf?(tx: SqlTx, accountId: number, row: unknown): Promise<AppError>;
  /** For what operations of this kind send money: only these can need approval. */
  sendsMoney?: PaymentPurpose;
  /** Who receives how much by a stored operation. Default: its counterparty receives all of it. */
  payeesOf?(operation: Operation): readonly Payee[];
  /**
   * Throws when an operation that waited for approval must not be sent any more. Runs in the
   * transaction of the approval, under the lock of the operation. Without this callback only the
   * bank decides.
   */
  assertStillSendable?(tx: Tx, operation: Operation): Promise<void>;
  /**
   * Kinds whose natural identities name the same things as those of this kind: two operations of
   * these kinds with one identity break a rule of `rowWrites`. So they are not stored together.
   */
  sharesIdentitiesWith?: readonly string[];
  /**
   * Whether a response of the bank repeats the requested amount and ids. After a success that does
   * not repeat them, the operation stays unknown.
   */
  echoes(input: RouteInput<R>, response: RouteOutput<R>): boolean;
  /**
   * The bank accepted the operation. Stores the data of the response in the module's own rows, in
   * the transaction that records the outcome. Must be idempotent: the callback is called again,
   * with the same or more data, in two cases: `not_executed` is revoked, or the response comes
   * after the statement showed the effect.
   */
  onSucceeded?(tx: Tx, operation: Operation, acceptance: Acceptance<RouteOutput<R>>): Promise<void>;
  /**
   * `onSucceeded` for operations of which the bank answered the first attempt: their outcomes are
   * recorded in one transaction. Returns what is left to write: it is sent with the commit. A kind
   * with `onSucceeded` but without this method records each outcome alone.
   */
  onAnswered?(
    tx: SqlTx,
    accountId: number,
    answers: readonly Answer<RouteOutput<R>>[],
  ): Promise<Write[]>;
  /**
   * The bank rejected the operation, or it was proven not executed. Marks the module's own rows as
   * failed and releases what they reserved, in the transaction that records the outcome.
   */
  onRejected(tx: Tx, operation: Operation): Promise<void>;
  /**
   * The operation was proven not executed, and then the statement showed a part of it. Reopens the
   * other parts, in the transaction that records the outcome. Only kinds that make several
   * movements need it.
   */
  onReopened?(tx: Tx, operation: Operation): Promise<void>;
  /**
   * The latest time at which the operation may take effect, if that is later than the end of its
   * last attempt (`lastSendBy`). An example is a bill that is paid in the next business hour. Both
   * times are the bank's.
   */
  latestEffectAt?(operation: Operation, lastSendBy: Date): Date;
  /**
   * Whether a response that is inconclusive in general is a rejection for this kind, such as a 409
   * that says that the resource already exists. Applies only to the first request that was sent.
   */
  isRejection?(response: { status: number; text: string }): boolean;
  /**
   * Returns the response body as it may be stored, for kinds with `repeat: 'never'`: the bank may
   * have repeated a secret in it. Without this callback the response body of such a kind is not
   * stored.
   */
  redactResponse?(input: RouteInput<R>, text: string): string;
  /**
   * Looks the operation up at the bank by an id that was known before the response. Called only if
   * the bank profile offers status by id. A resource that the bank created before `since`, by the
   * bank's clock, belongs to another operation.
   */
  lookUp?(
    account: BankAccount,
    operation: Operation,
    since: Date,
  ): Promise<LookUpResult<RouteOutput<R>>>;
}

/** Outgoing money: the fields that are compared to find possible duplicates. */
export interface OutgoingMoney {
  /**
   * Normalized: `ispb/branch/number`, an account number, a bar code, or the nsu of a refunded Pix.
   */
  counterparty: string;
  amountCents: bigint;
  /** Whether the statement shows an id that the client chose, so that similar requests differ. */
  isDistinguishable: boolean;
  /** Who receives how much, where they are several. Default: the counterparty. */
  payees?: readonly Payee[];
}

/** Who requested an operation, and by what. */
export interface Requester {
  source: OperationSource;
  /**
   * The id of the API key; of an automatic refund, the key that set its policy. Null only where no
   * money is sent.
   */
  actor: string | null;
}

/** The preferences that a caller sends as headers of a request. */
export interface RequestPreferences {
  /** `Prefer: respond-async`: respond with 202 at once. */
  respondAsync: boolean;
  /** `Concilia-Allow-Duplicate: true`: proceed although the request may be a duplicate. */
  allowDuplicate: boolean;
  /** Set from the caller's key, never by a header. */
  requestedBy: Requester;
  /**
   * Ties a new operation to what it is requested for, in the transaction that stores it. Throws
   * when the request must not be sent. Set by the service's own modules, never by a header.
   */
  claim?(tx: Tx, operationId: string): Promise<void>;
}

export const noPreferences: RequestPreferences = {
  respondAsync: false,
  allowDuplicate: false,
  requestedBy: { source: 'api', actor: null },
};

/** One request of a caller, as a feature module passes it to the journal. */
export type OperationRequest<R extends Route = Route> = RequestFacts<R> & (OwnRow | OwnRecord);

/** The module's own row of a request, which `rowWrites` of its kind write. */
export interface OwnRow {
  rowOf(operationId: string, expectedPaymentIds: readonly string[]): unknown;
  record?: undefined;
}

/**
 * Inserts the module's own rows of one request, in the transaction that inserts the operation.
 * Throws when the request breaks a rule of the bank for its clients. It is for rules that are
 * checked under a lock: such a request is stored alone.
 */
export interface OwnRecord {
  rowOf?: undefined;
  record(tx: Tx, operationId: string, expectedPaymentIds: string[]): Promise<void>;
}

interface RequestFacts<R extends Route> {
  accountId: number;
  /** The caller's own key; null when the caller sent none. */
  idempotencyKey: string | null;
  /** An id that identifies a repeat without a key, such as a correlationId. */
  naturalIdentity?: string | null;
  /**
   * Without a key, an identical request is the same operation while the operation is not final, and
   * for ten minutes after.
   */
  joinsSameRequest?: boolean;
  input: RouteInput<R>;
  /**
   * Returns the input to send: the caller's input, completed with ids that are derived from the
   * operation's id. Repeats are compared by the caller's input.
   */
  completeInput?(operationId: string): RouteInput<R>;
  /**
   * What a repeat must equal in place of the body, where the service adds ids to the body that each
   * request gets anew, or the body leaves out what the caller sent.
   */
  comparedBody?: unknown;
  /**
   * The body to store, if the exact body holds secrets. The exact body is sent once, from memory.
   */
  redactedBody?: unknown;
  /** The outgoing money; a charge, for example, sends none. */
  outgoing?: OutgoingMoney | null;
  /** When the operation takes effect, by the bank's clock, where the caller scheduled it. */
  effectiveFrom?: Date | null;
  preferences: RequestPreferences;
  expectedPayments: NewExpectedPayment[];
  /** Of each expected payment, in their order. A part of the request that the bank never gets. */
  metadata?: readonly (Metadata | null)[];
  /**
   * Runs first in the transaction that inserts the operation, and not for a repeat. Takes the locks
   * that come before the operation's, and throws when the request no longer applies.
   */
  assertApplies?(tx: Tx): Promise<void>;
}

/** Response header with the id of the operation. */
export const operationHeader = 'Concilia-Operation';
