// Checks a stored line against the text that came from the bank, and its stored outcome against the
// leaf that certificates prove. A difference shows amounts, times and hashes; fields that may hold
// personal data are named only.
import { statementDayOf } from '../../brazil/statement-day.js';
import { labelOf, type DecidedOutcome } from '../../reconciliation/decide/line-outcomes.js';
import { commitmentOfLine, leafOfLine } from '../../reconciliation/load/line-leaf.js';
import { parseStoredContent, type StatementLine } from '../../statement/lines/statement-line.js';

/** The first value that differs from what the certificates or the bank's text require. */
export interface Difference {
  date: string | null;
  nsu: bigint | null;
  field: string;
  expected: string;
  found: string;
}

export interface StoredLine extends StatementLine {
  arrival: bigint;
  salt: string | null;
  /** Null unless an erasure of the line is recorded. */
  erasedCommitment: string | null;
}

/** What is stored of the outcome of a line. */
export interface ProvenOutcome {
  version: number;
  leafHash: Uint8Array;
  label: string | null;
  outcome: DecidedOutcome;
}

const moneyFields = ['amountCents', 'balancePreviousCents', 'currentBalanceCents'] as const;
/** Null once the line is erased. */
const personalFields = [
  'counterparty',
  'counterpartyDocument',
  'counterpartyMaskedTaxId',
  'counterpartyName',
  'counterpartyIspb',
  'counterpartyBranch',
  'counterpartyAccount',
  'message',
  'notes',
] as const satisfies (keyof StatementLine)[];
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
  'paidOn',
  'hasOneHolder',
  ...personalFields,
] as const satisfies (keyof StatementLine)[];

export function differenceOfLine(
  accountId: number,
  line: StoredLine,
  stored: ProvenOutcome | null,
): Difference | null {
  const { nsu } = line;
  const differenceIn = (field: string, expected: string, found: string): Difference => {
    return { date: statementDayOf(line.occurredAt), nsu, field, expected, found };
  };
  const difference =
    line.erasedCommitment === null
      ? differenceOfContent(line, differenceIn)
      : isEmpty(line)
        ? null
        : differenceIn('content', 'empty, because the line was erased', 'not empty');
  if (difference || !stored) return difference;
  if (commitmentOfLine(line) === null) return differenceIn('salt', 'a salt', 'none');
  const { version, outcome, label } = stored;
  const expected = Buffer.from(stored.leafHash).toString('hex');
  const found = leafOfLine(accountId, line, version, outcome);
  if (found !== expected) return differenceIn('leaf of line and outcome', expected, found);
  if (label !== labelOf(outcome)) return differenceIn('label', `${labelOf(outcome)}`, `${label}`);
  return null;
}

function differenceOfContent(
  line: StoredLine,
  differenceIn: (field: string, expected: string, found: string) => Difference,
): Difference | null {
  const original = parseStoredContent(line.content);
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
  return null;
}

function isEmpty({ content, contentHash, salt, ...line }: StoredLine): boolean {
  const isNull = personalFields.every((field) => line[field] === null);
  return content === '' && contentHash === '' && salt === null && isNull;
}
