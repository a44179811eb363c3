/**
 * By what a line names a record of ours, the surest first: the key that it was asked for with, the nsu that the bank
 * answered, the bank's id of the movement, ids that the client or the bank chose, the bill, and, shared by several,
 * the Pix that a refund gives back and who gets the money.
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

export interface Reference {
  kind: ReferenceKind;
  value: string;
}
