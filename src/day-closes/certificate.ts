// A day's certificate: everything that is certified as one canonical text, whose hash is the day's link in the chain.
// The text holds the hash of the link before, so that none can be changed, left out or put elsewhere unseen.
import { z } from 'zod';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { canonicalJson, sha256 } from '../platform/exact-json.js';
import type { AcceptedDifference, Cut, CutLine } from './cut.js';

/** What the first link of each chain follows. */
export const noHash = '0'.repeat(64);

/** How a line stood when its day was certified. */
export interface Explained {
  state: 'matched' | 'classified' | 'in_break';
  /** The category or the break's kind; null for a match. */
  as: string | null;
  isCredit: boolean;
  amountCents: bigint;
}

export interface DayFacts {
  accountId: number;
  date: string;
  revision: number;
  sequence: number;
  /** Why there is another revision; null for the first. */
  reason: 'late_line' | null;
  openingCents: bigint;
  lines: readonly (Explained & { nsu: bigint })[];
  cut: Cut;
  linesHash: string;
  /** Of all lines before the account's first certified day; null on every other day. */
  earlier: { lines: number; linesHash: string } | null;
  /** Lines that the revision before did not have. */
  added: readonly bigint[];
  previousHash: string;
  closedUntil: Date | null;
  /** By the bank's clock. */
  madeAt: Date;
}

const amounts = z.object({ count: z.int(), credits: z.string(), debits: z.string() });
const certificateText = z.object({
  format: z.literal('concilia-day-close/1'),
  accountId: z.int(),
  date: z.string(),
  revision: z.int(),
  sequence: z.int(),
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
  /** The balance that the closing is held against: after this line, but for the reconciling items. */
  balanceNsu: z.string().nullable(),
  balance: z.string(),
  reconcilingItems: z.array(
    z.object({
      kind: z.enum(['straddling_line', 'accepted_difference']),
      nsu: z.string(),
      occurredAt: z.string(),
      amount: z.string(),
      /** By which a person accepted the difference, and why; null for a line. */
      breakId: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  added: z.array(z.string()),
  linesHash: z.string(),
  /** The lines before the first certified day, in the certificates of that day. */
  earlier: z.object({ lines: z.int(), linesHash: z.string() }).nullable(),
  previousHash: z.string(),
  closedUntil: z.string().nullable(),
  madeAt: z.string(),
});
export type Certificate = z.output<typeof certificateText>;

export interface Figures {
  openingCents: bigint;
  creditCents: bigint;
  debitCents: bigint;
  closingCents: bigint;
}

export function figuresOf(
  openingCents: bigint,
  lines: Iterable<Pick<Explained, 'isCredit' | 'amountCents'>>,
): Figures {
  let [creditCents, debitCents] = [0n, 0n];
  for (const { isCredit, amountCents } of lines) {
    if (isCredit) creditCents += amountCents;
    else debitCents += amountCents;
  }
  const closingCents = openingCents + creditCents - debitCents;
  return { openingCents, creditCents, debitCents, closingCents };
}

export function certify(facts: DayFacts): Certificate {
  const { lines, cut } = facts;
  const figures = figuresOf(facts.openingCents, lines);
  const nsus = lines.map(({ nsu }) => nsu).sort((a, b) => (a < b ? -1 : 1));
  const reais = formatReaisWithTwoDecimals;
  return {
    format: 'concilia-day-close/1',
    accountId: facts.accountId,
    date: facts.date,
    revision: facts.revision,
    sequence: facts.sequence,
    reason: facts.reason,
    opening: reais(figures.openingCents),
    credits: reais(figures.creditCents),
    debits: reais(figures.debitCents),
    closing: reais(figures.closingCents),
    lines: lines.length,
    matched: amountsOf(lines.filter(({ state }) => state === 'matched')),
    classified: byName(lines.filter(({ state }) => state === 'classified')),
    inBreak: byName(lines.filter(({ state }) => state === 'in_break')),
    firstNsu: nsus[0]?.toString() ?? null,
    lastNsu: nsus.at(-1)?.toString() ?? null,
    balanceNsu: cut.nsu?.toString() ?? null,
    balance: reais(cut.balanceCents),
    reconcilingItems: [
      ...cut.items.map((item) => writeItem('straddling_line', item, null)),
      ...cut.differences.map((item) => writeItem('accepted_difference', item, item)),
    ],
    added: facts.added.map(String),
    linesHash: facts.linesHash,
    earlier: facts.earlier,
    previousHash: facts.previousHash,
    closedUntil: facts.closedUntil?.toISOString() ?? null,
    madeAt: facts.madeAt.toISOString(),
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

/** The text that is kept and hashed. */
export function writeCertificate(certificate: Certificate): string {
  return canonicalJson(certificate);
}

export function hashOfCertificate(text: string): string {
  return sha256(text);
}

/** Throws where the text is none of ours. */
export function readCertificate(text: string): Certificate {
  return certificateText.parse(JSON.parse(text));
}

/** Cents of an amount as a certificate writes it. */
export function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

/** The cut that a certificate tells, for the day after. */
export function cutOf({ balanceNsu, balance, reconcilingItems }: Certificate): Cut {
  const read = ({ nsu, occurredAt, amount }: Certificate['reconcilingItems'][number]): CutLine => ({
    nsu: BigInt(nsu),
    occurredAt: new Date(occurredAt),
    signedCents: centsOf(amount),
  });
  const differences: AcceptedDifference[] = [];
  for (const item of reconcilingItems)
    if (item.breakId !== null)
      differences.push({ ...read(item), breakId: item.breakId, reason: item.reason });
  return {
    nsu: balanceNsu === null ? null : BigInt(balanceNsu),
    balanceCents: centsOf(balance),
    items: reconcilingItems.filter(({ breakId }) => breakId === null).map(read),
    differences,
  };
}

/** Whether a new revision would certify nothing else than the one before. */
export function saysTheSame(a: Certificate, b: Certificate): boolean {
  const told = ({
    opening,
    closing,
    credits,
    debits,
    linesHash,
    earlier,
    ...said
  }: Certificate) => {
    const { balanceNsu, balance, reconcilingItems } = said;
    const figures = { opening, closing, credits, debits, linesHash, earlier };
    return canonicalJson({ ...figures, balanceNsu, balance, reconcilingItems });
  };
  return told(a) === told(b);
}

function amountsOf(lines: readonly Explained[]): z.output<typeof amounts> {
  const { creditCents, debitCents } = figuresOf(0n, lines);
  return {
    count: lines.length,
    credits: formatReaisWithTwoDecimals(creditCents),
    debits: formatReaisWithTwoDecimals(debitCents),
  };
}

function byName(lines: readonly Explained[]): Record<string, z.output<typeof amounts>> {
  const groups = new Map<string, Explained[]>();
  for (const line of lines) {
    const name = line.as ?? '';
    const group = groups.get(name);
    if (group) group.push(line);
    else groups.set(name, [line]);
  }
  return Object.fromEntries([...groups].map(([name, group]) => [name, amountsOf(group)]));
}
