// Seals for lines that have none. The salt is random: what is left of an erased line must not be guessed.
import { randomBytes } from 'node:crypto';
import { statementDayOf } from '../brazil/statement-day.js';
import { commitmentOf, lineHashOf, type HashedFields } from './line-hash.js';
import type { NewCertifiedLine } from './certified-lines.queries.js';

export function hashLine(accountId: number, line: HashedFields & { contentHash: string }): NewCertifiedLine {
  const salt = randomBytes(16).toString('hex');
  const commitment = commitmentOf(salt, line.contentHash);
  const lineHash = lineHashOf(accountId, line, commitment);
  return { nsu: line.nsu, date: statementDayOf(line.occurredAt), salt, commitment, lineHash };
}
