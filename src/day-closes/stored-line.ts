// Checks a stored line against the text that came from the bank, and against its line hash. A
// difference shows amounts, times and hashes; fields that may hold personal data are named only.
import { statementDayOf } from '../brazil/statement-day.js';
import { parseJson, tolerantJson } from '../platform/exact-json.js';
import { parseStatementLine, type StatementLine } from '../statement/statement-line.js';
import { commitmentOf, lineHashOf } from './line-hash.js';

/** The first value that differs from what the certificates or the bank's text require. */
export interface Difference {
  date: string | null;
  nsu: bigint | null;
  field: string;
  expected: string;
  found: string;
}

export interface CheckedLine extends StatementLine {
  arrival: bigint;
  certifiedDate: string | null;
  commitment: string | null;
  lineHash: string | null;
  salt: string | null;
  /** Whether an erasure of the line is recorded. */
  isErased: boolean;
}

const moneyFields = ['amountCents', 'balancePreviousCents', 'currentBalanceCents'] as const;
const otherFields = [
  'nsu',
  'bankId',
  'isCredit',
  'typeName',
  'correlationId',
  'endToEndId',
  'externalId',
  'originalEndToEndId',
  'movementId',
  'idempotencyKey',
  'billCode',
  'counterparty',
  'counterpartyDocument',
  'hasOneHolder',
  'notes',
] as const satisfies (keyof StatementLine)[];

export function differenceOfLine(accountId: number, line: CheckedLine): Difference | null {
  const { nsu, certifiedDate } = line;
  const differenceIn = (field: string, expected: string, found: string): Difference => {
    return { date: certifiedDate ?? statementDayOf(line.occurredAt), nsu, field, expected, found };
  };
  if (line.isErased)
    return isEmpty(line)
      ? differenceOfCertifiedLine(accountId, line, differenceIn)
      : differenceIn('content', 'empty, because the line was erased', 'not empty');
  const original = readContent(line.content);
  if (!original) return differenceIn('content', 'a statement line', 'unreadable text');
  if (original.contentHash !== line.contentHash)
    return differenceIn('content', line.contentHash, original.contentHash);
  for (const field of moneyFields)
    if (line[field] !== original[field])
      return differenceIn(field, `${original[field]}`, `${line[field]}`);
  if (line.occurredAt.getTime() !== original.occurredAt.getTime())
    return differenceIn(
      'occurredAt',
      original.occurredAt.toISOString(),
      line.occurredAt.toISOString(),
    );
  for (const field of otherFields)
    if (line[field] !== original[field])
      return differenceIn(field, 'the value in the text of the bank', 'another value');
  return differenceOfCertifiedLine(accountId, line, differenceIn);
}

function differenceOfCertifiedLine(
  accountId: number,
  line: CheckedLine,
  differenceIn: (field: string, expected: string, found: string) => Difference,
): Difference | null {
  const { commitment, lineHash, certifiedDate } = line;
  if (commitment === null || lineHash === null || certifiedDate === null) return null;
  const date = statementDayOf(line.occurredAt);
  if (certifiedDate !== date) return differenceIn('day', certifiedDate, date);
  if (!line.isErased) {
    if (line.salt === null) return differenceIn('salt', 'a salt', 'none');
    const found = commitmentOf(line.salt, line.contentHash);
    if (found !== commitment) return differenceIn('commitment', commitment, found);
  }
  const hash = lineHashOf(accountId, line, commitment);
  return hash === lineHash ? null : differenceIn('line hash', lineHash, hash);
}

function isEmpty({ content, contentHash, salt, ...line }: CheckedLine): boolean {
  const personal = [line.notes, line.counterparty, line.counterpartyDocument, salt];
  return content === '' && contentHash === '' && personal.every((value) => value === null);
}

function readContent(content: string): StatementLine | null {
  try {
    const raw = parseJson(content, tolerantJson);
    const reading = parseStatementLine(raw);
    return reading.ok ? reading.line : null;
  } catch {
    return null;
  }
}
