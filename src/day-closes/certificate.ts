// The certificate of a day: everything that is certified, as one canonical text. The hash of the
// text is the day's link in the chain. The text contains the hash of the previous link, so that any
// change, removal or reordering of certificates is detected.
import { z } from 'zod';
import type { DayClose } from '../generated/service/client.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { canonicalJson, sha256 } from '../platform/exact-json.js';
import type { AcceptedDifference, Cut, CutLine } from './cut.js';

/** The previous hash of the first certificate of a chain. */
export const zeroHash = '0'.repeat(64);

/** The outcome of a line when its day is certified. */
export interface CertifiedOutcome {
  state: 'matched' | 'classified' | 'in_break';
  /** The category of a classified line, or the kind of the line's break; null for a match. */
  label: string | null;
  isCredit: boolean;
  amountCents: bigint;
}

const amounts = z.object({ count: z.int(), credits: z.string(), debits: z.string() });
const certificateText = z.object({
  format: z.literal('concilia-day-close/1'),
  accountId: z.int(),
  date: z.string(),
  revision: z.int(),
  sequence: z.int(),
  /** Why the day has another revision; null for the first. */
  reason: z.literal('late_line').nullable(),
  /** Amounts are in reais, with two decimals. */
  opening: z.string(),
  credits: z.string(),
  debits: z.string(),
  closing: z.string(),
  lines: z.int(),
  matched: amounts,
  classified: z.record(z.string(), amounts),
  inBreak: z.record(z.string(), amounts),
  firstNsu: z.string().nullable(),
  lastNsu: z.string().nullable(),
  /**
   * The balance after this line, corrected by the reconciling items, equals the closing balance.
   */
  balanceNsu: z.string().nullable(),
  balance: z.string(),
  reconcilingItems: z.array(
    z.object({
      kind: z.enum(['straddling_line', 'accepted_difference']),
      nsu: z.string(),
      occurredAt: z.string(),
      amount: z.string(),
      /** The break in which a person accepted the difference, and the reason; null for a line. */
      breakId: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  /** Lines that the previous revision did not contain. */
  added: z.array(z.string()),
  linesHash: z.string(),
  /** The lines before the first certified day; only the certificates of that day have it. */
  earlier: z.object({ lines: z.int(), linesHash: z.string() }).nullable(),
  previousHash: z.string(),
  closedUntil: z.string().nullable(),
  /** By the bank's clock. */
  madeAt: z.string(),
});
export type Certificate = z.output<typeof certificateText>;

export interface DayFacts extends Pick<
  Certificate,
  | ('accountId' | 'date' | 'revision' | 'sequence' | 'reason')
  | ('linesHash' | 'earlier' | 'previousHash')
> {
  openingCents: bigint;
  lines: readonly (CertifiedOutcome & { nsu: bigint })[];
  cut: Cut;
  added: readonly bigint[];
  closedUntil: Date | null;
  madeAt: Date;
}

export type Figures = Pick<
  DayClose,
  'openingCents' | 'creditCents' | 'debitCents' | 'closingCents'
>;

export function computeFigures(
  openingCents: bigint,
  lines: Iterable<Pick<CertifiedOutcome, 'isCredit' | 'amountCents'>>,
): Figures {
  let [creditCents, debitCents] = [0n, 0n];
  for (const { isCredit, amountCents } of lines) {
    if (isCredit) creditCents += amountCents;
    else debitCents += amountCents;
  }
  const closingCents = openingCents + creditCents - debitCents;
  return { openingCents, creditCents, debitCents, closingCents };
}

/** The figures as certificates, events, breaks and responses name them. */
export function nameFigures<Amount>(figures: Figures, write: (cents: bigint) => Amount) {
  return {
    opening: write(figures.openingCents),
    credits: write(figures.creditCents),
    debits: write(figures.debitCents),
    closing: write(figures.closingCents),
  };
}

export function makeCertificate(facts: DayFacts): Certificate {
  const { openingCents, lines, cut, added, closedUntil, madeAt, ...certified } = facts;
  const nsus = lines.map(({ nsu }) => nsu).sort((a, b) => (a < b ? -1 : 1));
  return {
    format: 'concilia-day-close/1',
    ...certified,
    ...nameFigures(computeFigures(openingCents, lines), formatReaisWithTwoDecimals),
    lines: lines.length,
    matched: amountsOf(lines.filter(({ state }) => state === 'matched')),
    classified: amountsByLabel(lines.filter(({ state }) => state === 'classified')),
    inBreak: amountsByLabel(lines.filter(({ state }) => state === 'in_break')),
    firstNsu: nsus[0]?.toString() ?? null,
    lastNsu: nsus.at(-1)?.toString() ?? null,
    balanceNsu: cut.nsu?.toString() ?? null,
    balance: formatReaisWithTwoDecimals(cut.balanceCents),
    reconcilingItems: [
      ...cut.straddlingLines.map((line) => writeItem('straddling_line', line, null)),
      ...cut.acceptedDifferences.map((item) => writeItem('accepted_difference', item, item)),
    ],
    added: added.map(String),
    closedUntil: closedUntil?.toISOString() ?? null,
    madeAt: madeAt.toISOString(),
  };
}

function writeItem(
  kind: Certificate['reconcilingItems'][number]['kind'],
  { nsu, occurredAt, signedCents }: CutLine,
  accepted: AcceptedDifference | null,
): Certificate['reconcilingItems'][number] {
  return {
    kind,
    nsu: nsu.toString(),
    occurredAt: occurredAt.toISOString(),
    amount: formatReaisWithTwoDecimals(signedCents),
    breakId: accepted?.breakId ?? null,
    reason: accepted?.reason ?? null,
  };
}

/** The text that is stored and hashed. */
export function writeCertificate(certificate: Certificate): string {
  return canonicalJson(certificate);
}

export function hashCertificate(text: string): string {
  return sha256(text);
}

/** Throws when the text is not a certificate. */
export function readCertificate(text: string): Certificate {
  return certificateText.parse(JSON.parse(text));
}

/** Converts an amount in a certificate's text, in reais, to cents. */
export function parseCents(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

/** The cut at the end of the certified day. The next day starts from it. */
export function cutOfCertificate({ balanceNsu, balance, reconcilingItems }: Certificate): Cut {
  const read = ({ nsu, occurredAt, amount }: Certificate['reconcilingItems'][number]): CutLine => ({
    nsu: BigInt(nsu),
    occurredAt: new Date(occurredAt),
    signedCents: parseCents(amount),
  });
  const acceptedDifferences: AcceptedDifference[] = [];
  for (const item of reconcilingItems)
    if (item.breakId !== null)
      acceptedDifferences.push({ ...read(item), breakId: item.breakId, reason: item.reason });
  return {
    nsu: balanceNsu === null ? null : BigInt(balanceNsu),
    balanceCents: parseCents(balance),
    straddlingLines: reconcilingItems.filter(({ breakId }) => breakId === null).map(read),
    acceptedDifferences,
  };
}

/**
 * Whether two certificates of a day have the same figures, lines and cut. Then a new revision is
 * not needed.
 */
export function hasSameContent(a: Certificate, b: Certificate): boolean {
  const contentOf = (certificate: Certificate) => {
    const { opening, closing, credits, debits, linesHash, earlier } = certificate;
    const { balanceNsu, balance, reconcilingItems } = certificate;
    const figures = { opening, closing, credits, debits, linesHash, earlier };
    return canonicalJson({ ...figures, balanceNsu, balance, reconcilingItems });
  };
  return contentOf(a) === contentOf(b);
}

function amountsOf(lines: readonly CertifiedOutcome[]): z.output<typeof amounts> {
  const { creditCents, debitCents } = computeFigures(0n, lines);
  return {
    count: lines.length,
    credits: formatReaisWithTwoDecimals(creditCents),
    debits: formatReaisWithTwoDecimals(debitCents),
  };
}

function amountsByLabel(
  lines: readonly CertifiedOutcome[],
): Record<string, z.output<typeof amounts>> {
  const groups = new Map<string, CertifiedOutcome[]>();
  for (const line of lines) {
    const label = line.label ?? '';
    const group = groups.get(label);
    if (group) group.push(line);
    else groups.set(label, [line]);
  }
  return Object.fromEntries([...groups].map(([label, group]) => [label, amountsOf(group)]));
}
