import { z } from 'zod';
import { bigInteger, reais, timestamp } from '../../contract/wire.js';
import { amountAndDirection, type PostedLine } from './movement.js';

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
    ...amountAndDirection(line.changeCents),
    type: line.typeName,
    endToEndId: line.endToEndId ?? null,
    correlationId: line.correlationId ?? null,
    externalId: line.externalId ?? null,
    originalEndToEndId: line.originalEndToEndId ?? null,
    idempotencyKey: line.idempotencyKey,
    createdAt: line.createdAt.toISOString(),
  };
}
