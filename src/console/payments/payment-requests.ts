// What a form that requests a payment sends, and what it says when the request is refused.
import { printReais } from '../../brazil/printed-text.js';
import { operationHeader, type RequestPreferences } from '../../outbound/operations/operation.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, invariant } from '../../platform/errors.js';
import { readUuid } from '../../platform/http/listing.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { callerOf } from '../visit.js';

/**
 * The idempotency key of a form, made when the form was shown: a form that is sent twice requests
 * once. Throws `not_found` for a form without one.
 */
export function keyOf({ form }: Visit): string {
  return readUuid(form.get('key') ?? '');
}

/** A person waits for the answer, and says it where the request may be a duplicate. */
export function preferencesOf(visit: Visit): RequestPreferences {
  return {
    respondAsync: false,
    allowDuplicate: visit.form.get('duplicate') === 'yes',
    requestedBy: { source: 'console', actor: callerOf(visit).actor },
  };
}

/** Of the operation that the reply is about. */
export function operationIdOf({ headers }: Reply): string {
  const id = headers[operationHeader];
  invariant(id, 'the reply to a request names its operation');
  return id;
}

export interface RequestProblem {
  text: TextKey;
  /** A code that has no text. */
  code: string | null;
  status: number;
  /** Another operation may be the same request: the person may send this one anyway. */
  isPossibleDuplicate: boolean;
  /** The page of that other operation, or of its line. */
  duplicatePage: string | null;
}

/** Why a request was refused. Rethrows what is no refusal. */
export function problemOf(error: unknown): RequestProblem {
  if (!(error instanceof AppError) || error.code === 'not_found') throw error;
  const { code, details, status } = error;
  const reason = details.reason ?? code;
  const text = findTextKey(`payment.problem.${reason}`);
  return {
    text: text ?? 'payment.problem.other',
    code: text === null ? reason : null,
    status,
    isPossibleDuplicate: code === 'possible_duplicate',
    duplicatePage: pageAt(details.headers?.Location),
  };
}

/** The page of what the API has at this address. */
function pageAt(location = ''): string | null {
  const [, operationId] = /^\/v1\/operations\/([0-9a-f-]{36})$/.exec(location) ?? [];
  const [, nsu] = /^\/v1\/transactions\?nsu=(\d+)$/.exec(location) ?? [];
  if (operationId) return `operations/${operationId}`;
  return nsu ? `statement/${nsu}` : null;
}

/** What a person saw of a refund when they confirmed it, for the audit. */
export function seenRefund(nsu: bigint, refundable: bigint, amount: bigint): string {
  return `nsu ${nsu}, refundable ${printReais(refundable)}, amount ${printReais(amount)}`;
}
