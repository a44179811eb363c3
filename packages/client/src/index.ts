// @concilia/client: what the package exports.
import { Resources } from './generated/resources.js';
import type { PendingItems, PendingOperation } from './generated/types.gen.js';
import type { ConciliaOptions } from './options.js';
import { Transport } from './transport.js';

/** The API by chapter of its reference: `client.charges.create({ … })`. */
export class Concilia extends Resources {
  constructor(options: ConciliaOptions) {
    super(new Transport(options));
  }
}

/**
 * Whether the bank has not responded yet: the operation goes on, and an event reports its end. Its
 * id resolves where the id of the final resource would.
 */
export function isPending(result: unknown): result is PendingOperation | PendingItems {
  const one: unknown = Array.isArray(result) ? result[0] : result;
  return (
    typeof one === 'object' &&
    one !== null &&
    ['kind', 'state', 'idempotencyKey'].every((name) => name in one)
  );
}

export { fromCents, toCents } from './amounts.js';
export {
  ApiError,
  ConciliaError,
  ConnectionError,
  OutcomeUnknownError,
  SignatureError,
  type ErrorCode,
} from './errors.js';
export {
  constructEvent,
  type ConciliaEvent,
  type EventHeaders,
  type UnknownEvent,
} from './events.js';
export { List, type Page } from './list.js';
export type * from './options.js';
export type * from './generated/types.gen.js';
export type { KnownEvent, Resources } from './generated/resources.js';
