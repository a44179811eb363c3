// The hashes of a statement line. The line hash covers nsu, money, time, type and ids, and a
// commitment to the rest. With the salt, the content can be proven; without it, the commitment
// reveals nothing, and the chain can still be verified.
import { sha256 } from '../platform/exact-json.js';
import type { StatementLine } from '../statement/statement-line.js';

/** The fields of the line hash. They stay when the personal data of a line is erased. */
export type HashedFields = Omit<
  StatementLine,
  ('counterparty' | 'counterpartyDocument' | 'hasOneHolder') | ('notes' | 'content' | 'contentHash')
>;

/** `salt` is 128 random bits; `contentHash` is the hash of the line's canonical text. */
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

/** The hash of the lines of a day, given in nsu order. */
export function linesHashOf(lineHashes: readonly string[]): string {
  return sha256(lineHashes.join('\n'));
}
