// The ids on a statement line that may name an expected payment.
import {
  referenceKinds,
  type Reference,
  type ReferenceKind,
} from '../../expected-payments/references.js';
import type { StatementLineFacts } from './model.js';

/**
 * The field of a line that carries each kind of reference. Null for kinds that a payment shares
 * with others and that only help to choose among payments of one amount.
 */
const fields: Record<ReferenceKind, ((line: StatementLineFacts) => string | null) | null> = {
  idempotency_key: ({ idempotencyKey }) => idempotencyKey,
  nsu: ({ nsu }) => nsu.toString(),
  movement_id: ({ movementId }) => movementId,
  end_to_end_id: ({ endToEndId }) => endToEndId,
  external_id: ({ externalId }) => externalId,
  correlation_id: ({ correlationId }) => correlationId,
  bill_code: ({ billCode }) => billCode,
  original_end_to_end_id: null,
  counterparty: null,
};

/** The most reliable kind first. */
export function lineReferences(line: StatementLineFacts): Reference[] {
  return referenceKinds.flatMap((kind) => {
    const value = fields[kind]?.(line) ?? null;
    return value === null ? [] : [{ kind, value }];
  });
}
