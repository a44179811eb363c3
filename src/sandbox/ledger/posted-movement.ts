import { z } from 'zod';
import { bigInteger, instant, reais } from '../../bank-contract/wire.js';
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
  createdAt: instant,
});

export type PostedMovement = z.output<typeof postedMovement>;

export function movementOfLine(line: PostedLine): PostedMovement {
  const { accountNumber: account, shownTypeName: type } = line;
  return { ...line, account, type, ...amountAndDirection(line.changeCents) };
}
