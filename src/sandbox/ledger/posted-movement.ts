import { z } from 'zod';
import { bigInteger, reais, timestamp } from '../../contract/wire.js';
import type { MovementRow } from './ledger.queries.js';
import type { PostedLine } from './movement.js';

/** A customer's line in the responses of the control plane. */
export const postedMovement = z.object({
  nsu: bigInteger,
  account: z.string(),
  amount: reais,
  isCredit: z.boolean(),
  type: z.string(),
  endToEndId: z.string().nullable(),
  correlationId: z.string().nullable(),
  externalId: z.string().nullable(),
  originalEndToEndId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  createdAt: timestamp,
});

export type PostedMovement = z.output<typeof postedMovement>;

export function movementOfLine(line: PostedLine): PostedMovement {
  return {
    nsu: line.nsu,
    account: line.accountNumber,
    ...signed(line.changeCents),
    type: line.typeName,
    endToEndId: line.endToEndId ?? null,
    correlationId: line.correlationId ?? null,
    externalId: line.externalId ?? null,
    originalEndToEndId: line.originalEndToEndId ?? null,
    idempotencyKey: line.idempotencyKey,
    createdAt: line.createdAt.toISOString(),
  };
}

export function movementOfRow(row: MovementRow): PostedMovement {
  return {
    nsu: row.nsu,
    account: row.account,
    ...signed(row.change_cents),
    type: row.type_name,
    endToEndId: row.end_to_end_id,
    correlationId: row.correlation_id,
    externalId: row.external_id,
    originalEndToEndId: row.original_end_to_end_id,
    idempotencyKey: row.idempotency_key,
    createdAt: row.created_at.toISOString(),
  };
}

/** The amount is positive and `isCredit` is its sign. */
function signed(changeCents: bigint): { amount: bigint; isCredit: boolean } {
  return { amount: changeCents < 0n ? -changeCents : changeCents, isCredit: changeCents > 0n };
}
