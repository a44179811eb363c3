// The data that files of the statement are written from, and text functions that formats share.
import type { Readable } from 'node:stream';
import type { PlainDate } from '../../brazil/calendar.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import type { Coding } from '../../statement/expected-payments/coding.js';
import type { StatementLine } from '../../generated/service/client.js';

/** A line with its state, and the matches, classification or break that explain it. */
export type ExportedLine = Pick<
  StatementLine,
  | ('nsu' | 'occurredAt' | 'typeName' | 'isCredit' | 'amountCents' | 'currentBalanceCents')
  | ('correlationId' | 'endToEndId' | 'externalId' | 'billCode' | 'notes')
> & {
  counterparty: Counterparty;
  state: string;
  rule: string | null;
  /** Why it needs no match; null for a line that has one, or none yet. */
  classification: string | null;
  /** The words of the company, of each part of the line; the classification without a category. */
  coding: Coding;
  breakKind: string | null;
  expectedPaymentIds: string[];
  /** Of the sales that it settles less a fee; null for every other line. */
  feeCents: bigint | null;
  /** The client's own id of the payment: of the line, or else of the payments that it pays. */
  clientReference: string | null;
  /** Of each payment that it pays, in the order of their ids. */
  metadata: Metadata[];
};

/** A line without what several sources say. */
export type ExportedLineRow = Omit<ExportedLine, 'counterparty' | 'coding'>;

/** The facts of a file besides its lines. */
export interface StatementPeriod {
  /** Statement days, both included. */
  from: PlainDate;
  to: PlainDate;
  /** The balance before the first line. */
  openingCents: bigint;
  /** Whether more lines may come. */
  isPartial: boolean;
  /** By the bank's clock. */
  generatedAt: Date;
}

/** Writes one file from its first byte to its last, row by row. */
export interface ExportFile<Row> {
  contentType: string;
  extension: string;
  encoding: 'utf8' | 'latin1';
  head(): string;
  row(row: Row): string;
  foot(): string;
  /** What stands around the bytes of the file, such as a ZIP file with it. */
  container?(bytes: Readable): Readable;
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
