// The declared rules held against all lines that compete and all that is still owed at once, so that neither the order
// of arrival nor a batch's cut changes what comes out. A pair is made only where each is the other's only one. Pure.
import { settlementOfPaid, type PaidSettlement } from '../../expected-payments/settlement.js';
import {
  byPriority,
  groupBy,
  isAbout,
  stillOwed,
  toleranceOf,
  waysToPay,
  wordsOf,
  type AppliedRule,
  type DeclaredCategory,
  type MatchAction,
  type RuledExpected,
  type RuledLine,
} from './rule.js';

/** What a line pays of one expected payment by a rule. */
export interface RuledPayment {
  expected: RuledExpected;
  amountCents: bigint;
  /** In all; null when the payer chooses. What was paid, where the rule tolerates the difference. */
  owedCents: bigint | null;
  /** What was paid beyond what is owed, or less: zero where it is exact. */
  differenceCents: bigint;
  settlement: PaidSettlement;
}

export type Ruling =
  | { of: 'matched'; rule: AppliedRule; payments: RuledPayment[] }
  | { of: 'classified'; rule: AppliedRule; category: DeclaredCategory; reason: string }
  | { of: 'ambiguous'; rule: AppliedRule; could: string[] }
  | { of: 'nothing' };

/** Of so many that are alike, none will be told from the others. */
export const maxAlike = 50;

/** What each line is by the rules. */
export function rule(
  rules: readonly AppliedRule[],
  lines: readonly RuledLine[],
  expected: readonly RuledExpected[],
): Map<bigint, Ruling> {
  const book = new Ruled(lines, expected);
  for (const each of [...rules].sort(byPriority)) {
    if (each.then.do === 'classify') book.classify(each);
    else book.match(each, each.then);
  }
  return book.rulings();
}

interface Way {
  line: RuledLine;
  pays: RuledExpected[];
}

class Ruled {
  private readonly ruled = new Map<bigint, Ruling>();
  /** Expected payments that a line pays, or that lines are at odds about. */
  private readonly taken = new Set<string>();
  private readonly byDocument = new Map<string, RuledExpected[]>();
  private readonly byName = new Map<string, RuledExpected[]>();

  constructor(
    private readonly lines: readonly RuledLine[],
    expected: readonly RuledExpected[],
  ) {
    const ordered = [...expected].sort((a, b) =>
      a.expectedPaymentId < b.expectedPaymentId ? -1 : 1,
    );
    for (const each of ordered) {
      if (each.counterpartyDocument) put(this.byDocument, each.counterpartyDocument, each);
      for (const name of each.names) put(this.byName, name, each);
    }
  }

  rulings(): Map<bigint, Ruling> {
    return new Map(
      this.lines.map(({ nsu }) => [nsu, this.ruled.get(nsu) ?? ({ of: 'nothing' } as const)]),
    );
  }

  classify(each: AppliedRule): void {
    if (each.then.do !== 'classify') return;
    const { classify: category, reason } = each.then;
    for (const { nsu } of this.openTo(each))
      this.ruled.set(nsu, { of: 'classified', rule: each, category, reason });
  }

  match(each: AppliedRule, action: MatchAction): void {
    const ways = this.openTo(each).flatMap((line) =>
      waysToPay(action, line, this.near(action, line)).map((pays): Way => ({ line, pays })),
    );
    const ofLine = groupBy(ways, ({ line }) => line.nsu);
    const wanting = new Map<string, Set<bigint>>();
    for (const { line, pays } of ways)
      for (const { expectedPaymentId: id } of pays)
        wanting.set(id, (wanting.get(id) ?? new Set()).add(line.nsu));
    const isSure = (nsu: bigint) => ofLine.get(nsu)?.length === 1;
    const instalments = action.instalments ? this.instalmentsOf(action, ofLine, wanting) : null;
    for (const [nsu, could] of ofLine) {
      const [way] = could;
      if (!way) continue;
      const isOnly = way.pays.every(
        ({ expectedPaymentId: id, isMultiUse }) => isMultiUse || wanting.get(id)?.size === 1,
      );
      const parts = instalments?.get(nsu);
      if (isSure(nsu) && (isOnly || parts))
        this.pay(each, way, parts ? [parts] : this.whole(action, way));
      else this.leaveOpen(each, nsu, could);
    }
    for (const { pays } of ways)
      for (const { expectedPaymentId, isMultiUse } of pays)
        if (!isMultiUse) this.taken.add(expectedPaymentId);
  }

  private openTo({ when }: AppliedRule): RuledLine[] {
    return this.lines.filter((line) => !this.ruled.has(line.nsu) && isAbout(when, line));
  }

  /** What the line may pay at all: by its document, or else by what its notes name. */
  private near(action: MatchAction, line: RuledLine): RuledExpected[] {
    const { counterpartyDocument: document } = line;
    const found = action.by.includes('document')
      ? document === null
        ? []
        : (this.byDocument.get(document) ?? [])
      : wordsOf(line.notes).flatMap((word) => this.byName.get(word) ?? []);
    return [...new Set(found)].filter(({ expectedPaymentId: id }) => !this.taken.has(id));
  }

  private pay(each: AppliedRule, { line }: Way, payments: RuledPayment[]): void {
    this.ruled.set(line.nsu, { of: 'matched', rule: each, payments });
  }

  private leaveOpen(each: AppliedRule, nsu: bigint, ways: Way[]): void {
    const ids = new Set(
      ways.flatMap(({ pays }) => pays.map(({ expectedPaymentId }) => expectedPaymentId)),
    );
    const could = [...ids].sort().slice(0, maxAlike);
    this.ruled.set(nsu, { of: 'ambiguous', rule: each, could });
  }

  /** The line pays one with all of itself, or each of several what is owed of it. */
  private whole(action: MatchAction, { line, pays }: Way): RuledPayment[] {
    const [one, ...others] = pays;
    if (one && others.length === 0) return [paymentOf(action, line, one)];
    return pays.map((expected) => {
      const amountCents = stillOwed(expected, { ...line, amountCents: 0n }) ?? 0n;
      const owedCents = expected.paidCents + amountCents;
      return { expected, amountCents, owedCents, differenceCents: 0n, settlement: 'settled' };
    });
  }

  /** Lines that pay one in parts, where together they are not more than is owed. */
  private instalmentsOf(
    action: MatchAction,
    ofLine: ReadonlyMap<bigint, Way[]>,
    wanting: ReadonlyMap<string, ReadonlySet<bigint>>,
  ): Map<bigint, RuledPayment> {
    const parts = new Map<bigint, RuledPayment>();
    for (const nsus of wanting.values()) {
      const ways = [...nsus].map((nsu) => ofLine.get(nsu) ?? []);
      if (nsus.size < 2 || ways.some((of) => of.length !== 1 || of[0]?.pays.length !== 1)) continue;
      const only = ways.flat().sort((a, b) => byTime(a.line, b.line));
      let paid = 0n;
      const payments = only.flatMap(({ line, pays: [expected] }) => {
        if (!expected) return [];
        const before = { ...expected, paidCents: expected.paidCents + paid };
        paid += line.amountCents;
        return [{ nsu: line.nsu, ...paymentOf(action, line, before) }];
      });
      const isTooMuch = payments.some(
        ({ differenceCents, amountCents }) =>
          differenceCents > toleranceOf(action, amountCents - differenceCents),
      );
      if (isTooMuch) continue;
      for (const { nsu, ...payment } of payments) parts.set(nsu, payment);
    }
    return parts;
  }
}

function paymentOf(action: MatchAction, line: RuledLine, expected: RuledExpected): RuledPayment {
  const { amountCents } = line;
  const still = stillOwed(expected, line);
  const paid = expected.paidCents + amountCents;
  const differenceCents = still === null ? 0n : amountCents - still;
  const difference = differenceCents < 0n ? -differenceCents : differenceCents;
  const isTolerated = still !== null && difference <= toleranceOf(action, still);
  const owedCents = still === null ? null : isTolerated ? paid : expected.paidCents + still;
  const { isMultiUse } = expected;
  const settlement = settlementOfPaid({ amountCents: owedCents, isMultiUse }, paid);
  return { expected, amountCents, owedCents, differenceCents, settlement };
}

function byTime(a: RuledLine, b: RuledLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

function put<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
