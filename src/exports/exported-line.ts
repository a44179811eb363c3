// What a file of the statement is written from, whatever its format.
import type { PlainDate } from '../brazil/calendar.js';

/** What a line is to the book. */
export interface LineExplanation {
  state: string;
  rule: string | null;
  category: string | null;
  breakKind: string | null;
  expectedPaymentIds: string[];
}

export interface ExportedLine {
  nsu: bigint;
  occurredAt: Date;
  typeName: string;
  isCredit: boolean;
  amountCents: bigint;
  balancePreviousCents: bigint;
  currentBalanceCents: bigint;
  correlationId: string | null;
  endToEndId: string | null;
  externalId: string | null;
  notes: string | null;
}

export type ExplainedLine = ExportedLine & LineExplanation;

/** The account as the file names it: what the bank calls it, where the caller says so. */
export interface NamedAccount {
  slug: string;
  /** COMPE's three digits. */
  bankCode: string | null;
  branch: string | null;
  accountNumber: string | null;
}

/** What a file tells besides its lines. */
export interface StatementPeriod {
  /** Statement days, both included. */
  from: PlainDate;
  to: PlainDate;
  /** The balance before the first line. */
  openingCents: bigint;
  /** Whether more may come: the last day is not over. */
  isPartial: boolean;
  /** By the bank's clock. */
  generatedAt: Date;
}

/** Writes one file, from its first byte to its last; lines come in the order of their nsu. */
export interface StatementFile<Line extends ExportedLine> {
  contentType: string;
  extension: string;
  encoding: 'utf8' | 'latin1';
  head(): string;
  line(line: Line): string;
  foot(): string;
}

export function signedCents({ isCredit, amountCents }: ExportedLine): bigint {
  return isCredit ? amountCents : -amountCents;
}

/** On one line: line breaks, tabs and other controls, also those that only Unicode knows, become spaces. */
export function onOneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Cf}/gu, '')
    .trim();
}

/** Without accents and whatever else is not printable ASCII. */
export function asciiOf(text: string): string {
  return onOneLine(text)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[–—]/g, '-')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[^\x20-\x7e]/gu, '?');
}
