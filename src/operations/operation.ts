// What an outbound intent is, and what a kind of it must say. The journal knows no kind by name: the rooms
// that ask for something register theirs.
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
  /** The exact body; null when the route has none. */
  requestBody: string | null;
  attempts: number;
  responseStatus: number | null;
  responseBody: string | null;
  reason: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A kind of operation: which route it calls, and what its room does when the bank has answered. */
export interface OperationKind<R extends Route = Route> {
  /** snake_case, unique: `create_charge`. */
  name: string;
  route: R;
  /** Whether an answer speaks of what was asked: our amount, our ids. */
  echoes(input: RouteInput<R>, answer: RouteOutput<R>): boolean;
  /** The bank rejected it, in the same transaction as the verdict: the room frees what it had taken. */
  onRejected(tx: Tx, operation: Operation): Promise<void>;
}

/** One intent, as a room hands it over. */
export interface Intent<R extends Route = Route> {
  accountId: number;
  /** The caller's own key; null when none came. */
  idempotencyKey: string | null;
  /** What makes a repeat the same intent without a key (a correlationId); null when nothing does. */
  naturalIdentity: string | null;
  input: RouteInput<R>;
  expectedPayments: NewExpectedPayment[];
  /** Writes the room's own rows, in the transaction of the operation. */
  record(tx: Tx, operationId: string, expectedPaymentIds: string[]): Promise<void>;
}

const finalStates: ReadonlySet<OperationState> = new Set([
  'succeeded',
  'rejected',
  'not_executed',
  'needs_operator',
]);

export function isFinal(state: OperationState): boolean {
  return finalStates.has(state);
}
