// Whether a certificate is what its place in the chain and the lines of its day make it.
import {
  centsOf,
  cutOf,
  figuresOf,
  hashOfCertificate,
  readCertificate,
  type Certificate,
} from './certificate.js';
import { heldAt } from './cut.js';
import type { Difference } from './stored-line.js';
import { linesHashOf } from './line-hash.js';

/** A link as it is kept. */
export interface StoredLink {
  accountId: number;
  sequence: number;
  date: string;
  revision: number;
  openingCents: bigint;
  creditCents: bigint;
  debitCents: bigint;
  closingCents: bigint;
  lineCount: number;
  certificate: string;
  linesHash: string;
  previousHash: string;
  hash: string;
}

type Told = [field: string, certified: string | number | bigint, found: string | number | bigint];

/** Of a link by itself, and by the hash of the one before. */
export function differenceOfLink(
  link: StoredLink,
  before: Pick<StoredLink, 'sequence' | 'hash'>,
): Difference | null {
  const told = (certified: string, field: string, found: string): Difference => {
    return { date: link.date, nsu: null, field, certified, found };
  };
  const hash = hashOfCertificate(link.certificate);
  if (hash !== link.hash) return told(link.hash, 'certificate', hash);
  const said = readOrNull(link.certificate);
  if (!said) return told('a certificate', 'certificate', 'what cannot be read');
  const columns: Told[] = [
    ['sequence', before.sequence + 1, link.sequence],
    ['previousHash', before.hash, link.previousHash],
    ['previousHash', said.previousHash, link.previousHash],
    ['accountId', said.accountId, link.accountId],
    ['date', said.date, link.date],
    ['revision', said.revision, link.revision],
    ['sequence', said.sequence, link.sequence],
    ['opening', centsOf(said.opening), link.openingCents],
    ['credits', centsOf(said.credits), link.creditCents],
    ['debits', centsOf(said.debits), link.debitCents],
    ['closing', centsOf(said.closing), link.closingCents],
    ['lines', said.lines, link.lineCount],
    ['linesHash', said.linesHash, link.linesHash],
    ['balance', heldAt(cutOf(said)), centsOf(said.closing)],
  ];
  return firstDifference(link.date, columns);
}

export interface CertifiedDayLine {
  nsu: bigint;
  lineHash: string;
  isCredit: boolean;
  amountCents: bigint;
}

/** Of a certificate, by the lines that it had: those of its day without what later revisions have added. */
export function differenceOfDay(
  said: Certificate,
  sealed: readonly CertifiedDayLine[],
  addedLater: ReadonlySet<string>,
): Difference | null {
  const lines = sealed.filter(({ nsu }) => !addedLater.has(nsu.toString()));
  const figures = figuresOf(centsOf(said.opening), lines);
  return firstDifference(said.date, [
    ['lines', said.lines, lines.length],
    ['credits', centsOf(said.credits), figures.creditCents],
    ['debits', centsOf(said.debits), figures.debitCents],
    ['closing', centsOf(said.closing), figures.closingCents],
    ['linesHash', said.linesHash, linesHashOf(lines.map(({ lineHash }) => lineHash))],
  ]);
}

type Shown = string | number | bigint | null;

export function differs(
  date: string | null,
  field: string,
  certified: Shown,
  found: Shown,
): Difference | null {
  if (certified === found) return null;
  return { date, nsu: null, field, certified: `${certified}`, found: `${found}` };
}

function firstDifference(date: string, told: Told[]): Difference | null {
  const differing = told.find(([, certified, found]) => certified !== found);
  if (!differing) return null;
  const [field, certified, found] = differing;
  return { date, nsu: null, field, certified: `${certified}`, found: `${found}` };
}

function readOrNull(text: string): Certificate | null {
  try {
    return readCertificate(text);
  } catch {
    return null;
  }
}
