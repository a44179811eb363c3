// What a certificate holds of one line: a hash of its money, its place and its time, and of a commitment to all else.
// Whoever has the salt can prove the content; without it the commitment tells nothing, and the chain stays provable.
import { sha256 } from '../platform/exact-json.js';

/** What stays when a line's personal data is erased. */
export interface HashedFields {
  nsu: bigint;
  bankId: string;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  correlationId: string | null;
  endToEndId: string | null;
  externalId: string | null;
  originalEndToEndId: string | null;
  movementId: string | null;
  idempotencyKey: string | null;
  billCode: string | null;
  balancePreviousCents: bigint;
  currentBalanceCents: bigint;
  occurredAt: Date;
}

/** `salt` is random, of 128 bits; `contentHash` is that of the line's canonical text. */
export function commitmentOf(salt: string, contentHash: string): string {
  return sha256(JSON.stringify(['commitment/1', salt, contentHash]));
}

export function lineHashOf(accountId: number, line: HashedFields, commitment: string): string {
  const fields = [
    'line/1',
    accountId,
    line.nsu.toString(),
    line.bankId,
    line.isCredit,
    line.amountCents.toString(),
    line.typeName,
    line.correlationId,
    line.endToEndId,
    line.externalId,
    line.originalEndToEndId,
    line.movementId,
    line.idempotencyKey,
    line.billCode,
    line.balancePreviousCents.toString(),
    line.currentBalanceCents.toString(),
    line.occurredAt.toISOString(),
    commitment,
  ];
  return sha256(JSON.stringify(fields));
}

/** Of all lines of a day, in the order of their nsu. */
export function linesHashOf(lineHashes: readonly string[]): string {
  return sha256(lineHashes.join('\n'));
}
