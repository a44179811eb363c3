// Whether the mirror is whole by its own account: no balance jumps, no certified day has a line that its certificates do
// not, and there are as many lines as were mirrored.
import { statementDayOf } from '../brazil/statement-day.js';
import type { ChainLink } from '../statement/balance-chain.js';
import { BalanceWalk } from './balance-walk.js';
import type { Certificate } from './certificate.js';
import { differs } from './chain-check.js';
import type { CheckedLine, Difference } from './stored-line.js';

/** What the chain says, but for its texts. */
export interface Chain {
  state: { nextDate: string; amendFrom: string | null; seenArrival: bigint } | null;
  /** Every revision of a day, oldest first. */
  days: ReadonlyMap<string, Certificate[]>;
}

/** What the mirror says of itself; `firstGapNsu`: up to there its chain is proved. */
interface Mirror {
  lastNsu: bigint | null;
  lineCount: bigint;
  balanceCents: bigint | null;
  firstGapNsu: bigint | null;
}

type Line = CheckedLine & { arrival: bigint };

export class StatementCheck {
  readonly walk: BalanceWalk;
  /** Lines of days that are certified, or of before them, that are still to be amended in. */
  readonly waiting: { nsu: bigint; date: string }[] = [];
  /** The lowest number of lines that no certificate can know of, whatever their day. */
  private unseenNsu: bigint | null = null;
  private lines = 0n;
  private lastNsu: bigint | null = null;

  constructor(
    private readonly chain: Chain,
    private readonly mirror: Mirror | null,
    accepted: ReadonlySet<bigint>,
  ) {
    this.walk = new BalanceWalk(accepted);
  }

  /** The next lines by nsu; `isCut` while there are more. */
  take(lines: readonly Line[], isCut: boolean): Difference | null {
    this.lines += BigInt(lines.length);
    this.lastNsu = lines.at(-1)?.nsu ?? this.lastNsu;
    const jump = this.jumpIn(lines, isCut);
    if (jump) return jump;
    const { state } = this.chain;
    const unseen = lines.find(({ arrival }) => state !== null && arrival > state.seenArrival);
    this.unseenNsu ??= unseen?.nsu ?? null;
    for (const line of lines) {
      if (line.certifiedDate !== null || !this.isOfClosedDay(line)) continue;
      const { nsu } = line;
      const date = statementDayOf(line.occurredAt);
      if (this.isLeftOut(line, date))
        return { date, nsu, field: 'line', certified: 'none', found: 'a line' };
      this.waiting.push({ nsu, date });
    }
    return null;
  }

  /** There are as many lines as were mirrored, and the last one is the one that was. */
  differenceOfStatement(): Difference | null {
    if (!this.mirror) return differs(null, 'lines', 0n, this.lines);
    const { lineCount, lastNsu, balanceCents, firstGapNsu } = this.mirror;
    const count = differs(null, 'lines', lineCount, this.lines);
    // While lines are being read, what the last one is has not been told yet.
    if (count || firstGapNsu !== null) return count;
    return (
      differs(null, 'last line', lastNsu, this.lastNsu) ??
      differs(null, 'balance', balanceCents, this.walk.balanceCents)
    );
  }

  /** Nothing that the certificate says is still to be amended. */
  isSettled({ date, balanceNsu }: Certificate): boolean {
    const { state } = this.chain;
    if (state?.amendFrom && date >= state.amendFrom) return false;
    const counted = balanceNsu === null ? null : BigInt(balanceNsu);
    if (this.unseenNsu !== null && counted !== null && this.unseenNsu <= counted) return false;
    return !this.waiting.some(
      (line) => line.date <= date || (counted !== null && line.nsu <= counted),
    );
  }

  /** Whether the walk has come by there. */
  hasWalked(nsu: bigint): boolean {
    return this.walk.gap === null || nsu < this.walk.gap.nsu;
  }

  /** Where balances do not link, below where the mirror itself says so. */
  private jumpIn(lines: readonly Line[], isCut: boolean): Difference | null {
    const gap = this.walk.take(lines.map(linkOf), isCut);
    const firstGapNsu = this.mirror?.firstGapNsu ?? null;
    if (!gap || (firstGapNsu !== null && gap.nsu >= firstGapNsu)) return null;
    const line = lines.find(({ nsu }) => nsu === gap.nsu);
    const date = line ? statementDayOf(line.occurredAt) : null;
    const found = `${line?.balancePreviousCents ?? 'another'}`;
    const certified = `${gap.balanceCents ?? 'what adds up'}`;
    return { date, nsu: gap.nsu, field: 'balance before', certified, found };
  }

  private isOfClosedDay({ occurredAt }: Line): boolean {
    const { state, days } = this.chain;
    return state !== null && days.size > 0 && statementDayOf(occurredAt) < state.nextDate;
  }

  /** No certificate has the line, though it was seen and nothing is to be amended for it. */
  private isLeftOut({ arrival }: Line, date: string): boolean {
    const { state, days } = this.chain;
    if (!state || arrival > state.seenArrival) return false;
    // A line of before the first certified day is amended into that day.
    const first = [...days.keys()].reduce((least, each) => (each < least ? each : least));
    return state.amendFrom === null || (date < first ? first : date) < state.amendFrom;
  }
}

function linkOf(line: Line): ChainLink {
  const signed = line.isCredit ? line.amountCents : -line.amountCents;
  const { nsu, balancePreviousCents: previous, currentBalanceCents: current } = line;
  return { nsu, previous, current, signed };
}
