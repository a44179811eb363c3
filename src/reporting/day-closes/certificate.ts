// The certificate of a day: everything that is certified, as one canonical text. The hash of the
// text is the day's link in the chain. The text contains the hash of the previous link, so that any
// change, removal or reordering of certificates is detected.
import { z } from 'zod';
import type { DayClose } from '../../generated/service/client.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { groupBy } from '../../platform/grouping.js';
import { toCanonicalJson } from '../../platform/json/canonical-json.js';
import { sha256 } from '../../platform/json/exact-json.js';
import type { AcceptedDifference, Cut, CutLine } from './cut.js';
import type { OutcomeTotal } from './day-lines.queries.js';

/** The previous hash of the first certificate of a chain. */
export const zeroHash = '0'.repeat(64);

const amounts = z.object({ count: z.int(), credits: z.string(), debits: z.string() });
const certificateText = z.object({
  /** `/1` has no `statementRoot` and no `key`. */
  format: z.enum(['concilia-day-close/1', 'concilia-day-close/2']),
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
  /** The root of the Merkle tree over the lines, in nsu order, with their outcomes. */
  linesRoot: z.string(),
  /**
   * The Merkle tree over the log of decisions, rule versions, approvals, rights and policies.
   * Absent in certificates that were made before there was one.
   */
  decisions: z.object({ count: z.int(), root: z.string() }).optional(),
  /** The root of the Merkle tree over what the bank showed of the lines, in nsu order. */
  statementRoot: z.string().optional(),
  /** The lines before the first certified day; only the certificates of that day have it. */
  earlier: z
    .object({ lines: z.int(), linesRoot: z.string(), statementRoot: z.string().optional() })
    .nullable(),
  /**
   * Certified lines whose outcome changed after the previous certificate: the root of the Merkle
   * tree over all of them, and the first thousand.
   */
  outcomeChanges: z.object({
    count: z.int(),
    root: z.string(),
    first: z.array(z.object({ nsu: z.string(), formerLeaf: z.string(), leaf: z.string() })),
  }),
  /** The lines are those up to this arrival number, and the outcomes those of this sequence. */
  lastArrival: z.string(),
  outcomeSequence: z.string(),
  previousHash: z.string(),
  /** What signs this text. A key that another one replaces has endorsed its successor. */
  key: z
    .object({
      id: z.string(),
      x: z.string(),
      endorsement: z.object({ by: z.string(), signature: z.string() }).nullable(),
    })
    .optional(),
  closedUntil: z.string().nullable(),
  /** By the bank's clock. */
  madeAt: z.string(),
});
export type Certificate = z.output<typeof certificateText>;

const summaryText = certificateText.pick({
  matched: true,
  classified: true,
  inBreak: true,
  firstNsu: true,
  lastNsu: true,
  reconcilingItems: true,
});
/** What the API shows of a certificate's text, beside the columns of its row. */
export type CertificateSummary = z.output<typeof summaryText>;
export const summaryFields = Object.keys(summaryText.shape);

/** The part of a certificate that stays the same unless its day must be amended. */
export type DayContent = Pick<
  Certificate,
  ('opening' | 'credits' | 'debits' | 'closing' | 'lines') | ('firstNsu' | 'lastNsu')
> &
  Pick<Certificate, 'balanceNsu' | 'balance' | 'reconcilingItems'>;

export type Figures = Pick<
  DayClose,
  'openingCents' | 'creditCents' | 'debitCents' | 'closingCents'
>;

export function figuresOf(
  openingCents: bigint,
  { creditCents, debitCents }: Pick<Figures, 'creditCents' | 'debitCents'>,
): Figures {
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

export function describeDay(
  figures: Figures,
  lines: { lines: number; firstNsu: bigint | null; lastNsu: bigint | null },
  cut: Cut,
): DayContent {
  return {
    ...nameFigures(figures, formatReaisWithTwoDecimals),
    lines: lines.lines,
    firstNsu: lines.firstNsu?.toString() ?? null,
    lastNsu: lines.lastNsu?.toString() ?? null,
    balanceNsu: cut.nsu?.toString() ?? null,
    balance: formatReaisWithTwoDecimals(cut.balanceCents),
    reconcilingItems: [
      ...cut.straddlingLines.map((line) => writeItem('straddling_line', line, null)),
      ...cut.acceptedDifferences.map((item) => writeItem('accepted_difference', item, item)),
    ],
  };
}

/** The counts and amounts of a day's lines by outcome. */
export function describeOutcomes(
  totals: readonly OutcomeTotal[],
): Pick<Certificate, 'matched' | 'classified' | 'inBreak'> {
  return {
    matched: amountsOf(totals.filter(({ state }) => state === 'matched')),
    classified: amountsByLabel(totals.filter(({ state }) => state === 'classified')),
    inBreak: amountsByLabel(totals.filter(({ state }) => state === 'in_break')),
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
  return toCanonicalJson(certificate);
}

export function hashCertificate(text: string): string {
  return sha256(text);
}

/** Throws when the text is not a certificate. */
export function readCertificate(text: string): Certificate {
  return certificateText.parse(JSON.parse(text));
}

/** Throws when the text is not a certificate, or not its fields `summaryFields`. */
export function readCertificateSummary(text: string): CertificateSummary {
  return summaryText.parse(JSON.parse(text));
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

/** Whether a day has the figures, lines and cut that its certificate states. */
export function hasContent(certificate: Certificate, content: DayContent): boolean {
  const keys = Object.keys(content) as (keyof DayContent)[];
  return keys.every((key) => toCanonicalJson(certificate[key]) === toCanonicalJson(content[key]));
}

function amountsOf(totals: readonly OutcomeTotal[]): z.output<typeof amounts> {
  const sum = (isCredit: boolean) =>
    totals
      .filter((total) => total.isCredit === isCredit)
      .reduce((cents, total) => cents + total.cents, 0n);
  return {
    count: totals.reduce((count, { lines }) => count + lines, 0),
    credits: formatReaisWithTwoDecimals(sum(true)),
    debits: formatReaisWithTwoDecimals(sum(false)),
  };
}

function amountsByLabel(totals: readonly OutcomeTotal[]): Record<string, z.output<typeof amounts>> {
  const groups = groupBy(totals, ({ label }) => label ?? '');
  return Object.fromEntries([...groups].map(([label, group]) => [label, amountsOf(group)]));
}
