// Checks the synced statement as a whole: the balance chain links, the certificates contain every
// line of their days, and their number equals the number of synced lines.
import { statementDayOf } from '../../brazil/statement-day.js';
import type { DayCloseState, StatementState } from '../../generated/service/client.js';
import {
  checkBalanceChain,
  type ChainLink,
  type Gap,
  type Jump,
} from '../../statement/lines/balance-chain.js';
import type { Certificate } from './certificate.js';
import { compareValues } from './chain-check.js';
import type { Difference, StoredLine } from './stored-line.js';

/** The account's closing state and its certificates. */
export interface Chain {
  state: Pick<DayCloseState, 'nextDate' | 'amendFrom' | 'seenArrival'> | null;
  /** Every revision of a day, oldest first. */
  days: ReadonlyMap<string, Certificate[]>;
}

/** The statement's stored totals; its balance chain is verified up to `firstGapNsu`. */
type StoredTotals = Pick<StatementState, 'lastNsu' | 'lineCount' | 'balanceCents' | 'firstGapNsu'>;

export class StatementCheck {
  /** The jumps of the balance at accepted gaps, in cents by nsu. */
  readonly jumps = new Map<bigint, bigint>();
  /** Uncertified lines of certified days, or of the time before them. An amendment adds them. */
  readonly waiting: { nsu: bigint; date: string }[] = [];
  /** The lowest nsu of the lines that arrived after the certificates were last updated. */
  private unseenNsu: bigint | null = null;
  private lineCount = 0n;
  private lastNsu: bigint | null = null;
  /** The last lines, which later lines may still explain, and the balance before them. */
  private links: ChainLink[] = [];
  private start: bigint | null = null;
  /** The balance that the chain has reached. */
  private balanceCents: bigint | null = null;
  private readonly firstDate: string | null;
  /** The first gap that nobody accepted. The balance chain is not checked beyond it. */
  private gap: Gap | null = null;

  constructor(
    private readonly chain: Chain,
    private readonly stored: StoredTotals | null,
    private readonly acceptedNsus: ReadonlySet<bigint>,
  ) {
    this.firstDate = [...chain.days.keys()].sort()[0] ?? null;
  }

  /** Checks the next lines in nsu order; `isCut` while more lines follow. */
  addLines(lines: readonly StoredLine[], isCut: boolean): Difference | null {
    this.lineCount += BigInt(lines.length);
    this.lastNsu = lines.at(-1)?.nsu ?? this.lastNsu;
    const jump = this.findJump(lines, isCut);
    if (jump) return jump;
    const { state } = this.chain;
    const unseen = lines.find(({ arrival }) => state !== null && arrival > state.seenArrival);
    this.unseenNsu ??= unseen?.nsu ?? null;
    for (const line of lines) {
      if (!this.isOfClosedDay(line) || this.isCertified(line)) continue;
      const { nsu } = line;
      const date = statementDayOf(line.occurredAt);
      if (this.isLeftOut(line, date))
        return { date, nsu, field: 'line', expected: 'none', found: 'a line' };
      this.waiting.push({ nsu, date });
    }
    return null;
  }

  /** Compares the lines with the stored totals: their number, the last line and the balance. */
  differenceOfStatement(): Difference | null {
    if (!this.stored) return compareValues(null, 'lines', 0n, this.lineCount);
    const { lineCount, lastNsu, balanceCents, firstGapNsu } = this.stored;
    const countDifference = compareValues(null, 'lines', lineCount, this.lineCount);
    // While the chain has a gap, the stored last line and balance are not final.
    if (countDifference || firstGapNsu !== null) return countDifference;
    return (
      compareValues(null, 'last line', lastNsu, this.lastNsu) ??
      compareValues(null, 'balance', balanceCents, this.balanceCents)
    );
  }

  /** Whether no amendment is due that can change the figures of the certificate. */
  isFinal({ date, balanceNsu }: Certificate): boolean {
    const { state } = this.chain;
    if (state?.amendFrom && date >= state.amendFrom) return false;
    const cutNsu = balanceNsu === null ? null : BigInt(balanceNsu);
    if (this.unseenNsu !== null && cutNsu !== null && this.unseenNsu <= cutNsu) return false;
    return !this.waiting.some(
      (line) => line.date <= date || (cutNsu !== null && line.nsu <= cutNsu),
    );
  }

  /** Whether the balance chain was checked at this nsu. */
  hasWalked(nsu: bigint): boolean {
    return this.gap === null || nsu < this.gap.nsu;
  }

  /** The first jump of the balance chain below the gap that the statement itself records. */
  private findJump(lines: readonly StoredLine[], isCut: boolean): Difference | null {
    if (this.gap) return null;
    const links = [...this.links, ...lines.map(linkOf)];
    const isAccepted = ({ nsu }: Jump) => this.acceptedNsus.has(nsu);
    const check = checkBalanceChain(links, { start: this.start, isCut, isAccepted });
    for (const { nsu, cents } of check.jumps) this.jumps.set(nsu, cents);
    this.balanceCents = check.balance;
    this.links = links.slice(check.resume.index);
    this.start = check.resume.balance;
    const { gap } = check;
    this.gap = gap;
    const firstGapNsu = this.stored?.firstGapNsu ?? null;
    if (!gap || (firstGapNsu !== null && gap.nsu >= firstGapNsu)) return null;
    const line = lines.find(({ nsu }) => nsu === gap.nsu);
    const date = line ? statementDayOf(line.occurredAt) : null;
    const found = `${line?.balancePreviousCents ?? 'another balance'}`;
    const expected = `${gap.balanceCents ?? 'a balance that agrees with the amount'}`;
    return { date, nsu: gap.nsu, field: 'balance before', expected, found };
  }

  /** Whether the current certificate of its day contains the line. */
  isCertified({ arrival, occurredAt }: StoredLine): boolean {
    const current = this.chain.days.get(this.certificateDateOf(statementDayOf(occurredAt)))?.at(-1);
    return current !== undefined && arrival <= BigInt(current.lastArrival);
  }

  /** The lines before the first certified day are in the certificate of that day. */
  private certificateDateOf(date: string): string {
    const { firstDate } = this;
    return firstDate !== null && date < firstDate ? firstDate : date;
  }

  private isOfClosedDay({ occurredAt }: StoredLine): boolean {
    const { state, days } = this.chain;
    return state !== null && days.size > 0 && statementDayOf(occurredAt) < state.nextDate;
  }

  /** Whether the line was seen, is in no certificate, and no amendment is due that would add it. */
  private isLeftOut({ arrival }: StoredLine, date: string): boolean {
    const { state } = this.chain;
    if (!state || arrival > state.seenArrival) return false;
    return state.amendFrom === null || this.certificateDateOf(date) < state.amendFrom;
  }
}

function linkOf(line: StoredLine): ChainLink {
  const signed = line.isCredit ? line.amountCents : -line.amountCents;
  const { nsu, balancePreviousCents: previous, currentBalanceCents: current } = line;
  return { nsu, previous, current, signed };
}
