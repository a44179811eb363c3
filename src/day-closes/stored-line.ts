// Whether a mirrored line is still what came from the bank, and what was certified. Differences are told without
// personal data: what is money is shown, all else by its name.
import { statementDayOf } from '../brazil/statement-day.js';
import { parseJson, tolerantJson } from '../platform/exact-json.js';
import { parseStatementLine, type StatementLine } from '../statement/statement-line.js';
import { commitmentOf, lineHashOf } from './line-hash.js';

/** The first thing that is not as it was certified. */
export interface Difference {
  date: string | null;
  nsu: bigint | null;
  field: string;
  certified: string;
  found: string;
}

export interface CheckedLine extends StatementLine {
  certifiedDate: string | null;
  commitment: string | null;
  lineHash: string | null;
  salt: string | null;
  /** It is written down that what is personal in it was erased. */
  isErased: boolean;
}

const money = ['amountCents', 'balancePreviousCents', 'currentBalanceCents'] as const;
const plain = [
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
  'notes',
] as const satisfies (keyof StatementLine)[];

export function differenceOfLine(accountId: number, line: CheckedLine): Difference | null {
  const { nsu, certifiedDate } = line;
  const differs = (field: string, certified: string, found: string): Difference => {
    return { date: certifiedDate ?? statementDayOf(line.occurredAt), nsu, field, certified, found };
  };
  if (line.isErased)
    return isEmpty(line)
      ? differenceOfCertifiedLine(accountId, line, differs)
      : differs('content', 'nothing: it was erased', 'something');
  const came = contentOf(line.content);
  if (!came) return differs('content', 'a line of the statement', 'what cannot be read');
  if (came.contentHash !== line.contentHash)
    return differs('content', line.contentHash, came.contentHash);
  for (const field of money)
    if (line[field] !== came[field]) return differs(field, `${came[field]}`, `${line[field]}`);
  if (line.occurredAt.getTime() !== came.occurredAt.getTime())
    return differs('occurredAt', came.occurredAt.toISOString(), line.occurredAt.toISOString());
  for (const field of plain)
    if (line[field] !== came[field])
      return differs(field, 'what its content says', 'another value');
  return differenceOfCertifiedLine(accountId, line, differs);
}

function differenceOfCertifiedLine(
  accountId: number,
  line: CheckedLine,
  differs: (field: string, certified: string, found: string) => Difference,
): Difference | null {
  const { commitment, lineHash, certifiedDate } = line;
  if (commitment === null || lineHash === null || certifiedDate === null) return null;
  const date = statementDayOf(line.occurredAt);
  if (certifiedDate !== date) return differs('day', certifiedDate, date);
  if (!line.isErased) {
    if (line.salt === null) return differs('salt', 'a salt', 'none');
    const committed = commitmentOf(line.salt, line.contentHash);
    if (committed !== commitment) return differs('commitment', commitment, committed);
  }
  const hashed = lineHashOf(accountId, line, commitment);
  return hashed === lineHash ? null : differs('line hash', lineHash, hashed);
}

function isEmpty({ content, contentHash, salt, ...line }: CheckedLine): boolean {
  const personal = [line.notes, line.counterparty, line.counterpartyDocument, salt];
  return content === '' && contentHash === '' && personal.every((value) => value === null);
}

function contentOf(content: string): StatementLine | null {
  try {
    const raw = parseJson(content, tolerantJson);
    const reading = parseStatementLine(raw);
    return reading.ok ? reading.line : null;
  } catch {
    return null;
  }
}
