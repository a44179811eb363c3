// The data that export files are written from, and text functions that the formats share.
import type { PlainDate } from '../brazil/calendar.js';
import type { StatementLine } from '../generated/service/client.js';

export type ExportedLine = Pick<
  StatementLine,
  | ('nsu' | 'occurredAt' | 'typeName' | 'isCredit' | 'amountCents' | 'balancePreviousCents')
  | ('currentBalanceCents' | 'correlationId' | 'endToEndId' | 'externalId' | 'notes')
>;

/** A line with its state, and the match, classification or break that explains it. */
export type ExplainedLine = ExportedLine & {
  state: string;
  rule: string | null;
  category: string | null;
  breakKind: string | null;
  expectedPaymentIds: string[];
};

/** The facts of a file besides its lines. */
export interface StatementPeriod {
  /** Statement days, both included. */
  from: PlainDate;
  to: PlainDate;
  /** The balance before the first line. */
  openingCents: bigint;
  /** Whether the last day is not over, so that more lines may come. */
  isPartial: boolean;
  /** By the bank's clock. */
  generatedAt: Date;
}

/** Writes one file from its first byte to its last. The lines must come in nsu order. */
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

/** Puts a text on one line: line breaks, tabs and other control characters become spaces. */
export function onOneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\p{Cf}/gu, '')
    .trim();
}

/** Removes accents, and replaces every other character that is not printable ASCII. */
export function asciiOf(text: string): string {
  return onOneLine(text)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[–—]/g, '-')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[^\x20-\x7e]/gu, '?');
}
