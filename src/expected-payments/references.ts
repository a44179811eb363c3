/**
 * The kinds of ids that tie a statement line to an expected payment, the most reliable first: the
 * idempotency key of the request, the nsu in the bank's response, the bank's movement id, ids
 * chosen by the client or the bank, and the bill's code. Several payments may share the last two
 * kinds: the Pix that is refunded, and the counterparty that receives the money.
 */
export const referenceKinds = [
  'idempotency_key',
  'nsu',
  'movement_id',
  'end_to_end_id',
  'external_id',
  'correlation_id',
  'bill_code',
  'original_end_to_end_id',
  'counterparty',
] as const;
export type ReferenceKind = (typeof referenceKinds)[number];

/** The kinds that several payments may share: they name no payment, and only help to choose. */
export const sharedReferenceKinds: ReferenceKind[] = ['original_end_to_end_id', 'counterparty'];

export interface Reference {
  kind: ReferenceKind;
  value: string;
}
