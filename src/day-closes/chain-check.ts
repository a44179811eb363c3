// Checks a certificate against its place in the chain and against the lines of its day.
import type { CertifiedLine, DayClose, StatementLine } from '../generated/service/client.js';
import {
  computeFigures,
  cutOfCertificate,
  hashCertificate,
  parseCents,
  readCertificate,
  type Certificate,
} from './certificate.js';
import { balanceOfDays } from './cut.js';
import { linesHashOf } from './line-hash.js';
import type { Difference } from './stored-line.js';

type Value = string | number | bigint;
type Comparison = [field: string, expected: Value, found: Value];

/** Compares a stored certificate with its own text, and with the hash of the previous one. */
export function differenceOfLink(
  link: DayClose,
  before: Pick<DayClose, 'sequence' | 'hash'>,
): Difference | null {
  const differenceIn = (field: string, expected: string, found: string): Difference => {
    return { date: link.date, nsu: null, field, expected, found };
  };
  const hash = hashCertificate(link.certificate);
  if (hash !== link.hash) return differenceIn('certificate', link.hash, hash);
  const certificate = readOrNull(link.certificate);
  if (!certificate) return differenceIn('certificate', 'a certificate', 'unreadable text');
  return firstDifference(link.date, [
    ['sequence', before.sequence + 1, link.sequence],
    ['previousHash', before.hash, link.previousHash],
    ['previousHash', certificate.previousHash, link.previousHash],
    ['accountId', certificate.accountId, link.accountId],
    ['date', certificate.date, link.date],
    ['revision', certificate.revision, link.revision],
    ['sequence', certificate.sequence, link.sequence],
    ['opening', parseCents(certificate.opening), link.openingCents],
    ['credits', parseCents(certificate.credits), link.creditCents],
    ['debits', parseCents(certificate.debits), link.debitCents],
    ['closing', parseCents(certificate.closing), link.closingCents],
    ['lines', certificate.lines, link.lineCount],
    ['linesHash', certificate.linesHash, link.linesHash],
    ['balance', balanceOfDays(cutOfCertificate(certificate)), parseCents(certificate.closing)],
  ]);
}

export type CertifiedDayLine = Pick<CertifiedLine, 'nsu' | 'lineHash'> &
  Pick<StatementLine, 'isCredit' | 'amountCents'>;

/**
 * Compares a certificate with the lines that it covers: the certified lines of its day, without the
 * lines that later revisions added.
 */
export function differenceOfDay(
  certificate: Certificate,
  certifiedLines: readonly CertifiedDayLine[],
  addedLater: ReadonlySet<string>,
): Difference | null {
  const lines = certifiedLines.filter(({ nsu }) => !addedLater.has(nsu.toString()));
  const figures = computeFigures(parseCents(certificate.opening), lines);
  return firstDifference(certificate.date, [
    ['lines', certificate.lines, lines.length],
    ['credits', parseCents(certificate.credits), figures.creditCents],
    ['debits', parseCents(certificate.debits), figures.debitCents],
    ['closing', parseCents(certificate.closing), figures.closingCents],
    ['linesHash', certificate.linesHash, linesHashOf(lines.map(({ lineHash }) => lineHash))],
  ]);
}

export function compareValues(
  date: string | null,
  field: string,
  expected: Value | null,
  found: Value | null,
): Difference | null {
  if (expected === found) return null;
  return { date, nsu: null, field, expected: `${expected}`, found: `${found}` };
}

function firstDifference(date: string, comparisons: Comparison[]): Difference | null {
  const differing = comparisons.find(([, expected, found]) => expected !== found);
  return differing ? compareValues(date, ...differing) : null;
}

function readOrNull(text: string): Certificate | null {
  try {
    return readCertificate(text);
  } catch {
    return null;
  }
}
