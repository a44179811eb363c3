// Checks a certificate against its place in the chain and against the lines of its day.
import type { DayClose } from '../../generated/service/client.js';
import { isSignedBy, isSuccessor } from '../../access/secrets/signature.js';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';
import {
  describeOutcomes,
  cutOfCertificate,
  hashCertificate,
  parseCents,
  readCertificate,
  type Certificate,
} from './certificate.js';
import { balanceOfDays } from './cut.js';
import type { SpanFigures } from './day-lines.queries.js';
import type { DayTree } from './day-tree.queries.js';
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
    ['linesRoot', certificate.linesRoot, link.linesRoot],
    ['lastArrival', certificate.lastArrival, link.lastArrival.toString()],
    ['outcomeSequence', certificate.outcomeSequence, link.outcomeSequence.toString()],
    ['balance', balanceOfDays(cutOfCertificate(certificate)), parseCents(certificate.closing)],
  ]);
}

/**
 * Whether the key that the certificate states signed its text, and follows the key of the last
 * signed certificate. In the format `/1`, which none may have after a signed one, nothing is.
 */
export function differenceOfSignature(
  { date, format, key }: Certificate,
  { certificate: text, signature }: DayClose,
  former: Certificate['key'],
): Difference | null {
  if (format === 'concilia-day-close/1')
    return compareValues(date, 'format', former ? 'concilia-day-close/2' : format, format);
  const isSigned = key !== undefined && signature !== null && isSignedBy(key, text, signature);
  const isKnown = isSigned && isSuccessor(key, former ?? null);
  const found = isKnown ? 'valid' : isSigned ? 'of a key that nothing endorses' : 'none';
  return compareValues(date, 'signature', 'valid', found);
}

/**
 * Compares a certificate with the lines that it covers and their outcomes, both as they were when
 * it was made.
 */
export function differenceOfDay(
  certificate: Certificate,
  figures: SpanFigures,
  tree: DayTree,
  statementRoot: string | null,
): Difference | null {
  const { opening, matched, classified, inBreak } = certificate;
  const { creditCents, debitCents, firstNsu, lastNsu } = figures;
  return firstDifference(certificate.date, [
    ['lines', certificate.lines, figures.lines],
    ['credits', parseCents(certificate.credits), creditCents],
    ['debits', parseCents(certificate.debits), debitCents],
    ['closing', parseCents(certificate.closing), parseCents(opening) + creditCents - debitCents],
    ['firstNsu', certificate.firstNsu ?? '', firstNsu?.toString() ?? ''],
    ['lastNsu', certificate.lastNsu ?? '', lastNsu?.toString() ?? ''],
    [
      'outcomes',
      toCanonicalJson({ matched, classified, inBreak }),
      toCanonicalJson(describeOutcomes(tree.totals())),
    ],
    ['linesRoot', certificate.linesRoot, tree.root()],
    ['statementRoot', certificate.statementRoot ?? '', statementRoot ?? ''],
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
