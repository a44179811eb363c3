// The declared rules held against all lines that compete and all that is still owed at once, so that neither the order
// of arrival nor a batch's cut changes what comes out. A pair is made only where each is the other's only one. Pure.
import { settlementOfPaidAmount, type PaidSettlement } from '../../expected-payments/settlement.js';
import {
  byPriority,
  groupBy,
  isAbout,
  likenessOf,
  paidBefore,
  stillOwed,
  toleranceOf,
  wasGone,
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

/** Lines that may pay the same in the same ways: of one payer there may be thousands. */
interface Alike {
  lines: RuledLine[];
  ways: RuledExpected[][];
  /** All that is in the ways, by id. */
  wants: Map<string, RuledExpected>;
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
    const lines = this.openTo(each).filter((line) => !wasGone(line, each.activatedAt));
    const alike = groupBy(lines, (line) => likenessOf(action, line));
    const groups = [...alike.values()].flatMap((lines): Alike[] => {
      const ways = lines[0] ? waysToPay(action, lines[0], this.near(action, lines[0])) : [];
      const wants = new Map(ways.flat().map((one) => [one.expectedPaymentId, one]));
      return ways.length === 0 ? [] : [{ lines, ways, wants }];
    });
    const wanting = new Map<string, Alike[]>();
    for (const group of groups) for (const id of group.wants.keys()) put(wanting, id, group);
    const isSingle = (group: Alike, id: string) =>
      group.lines.length === 1 && wanting.get(id)?.length === 1;
    const instalments = action.instalments ? instalmentsOf(action, wanting) : null;
    for (const group of groups) {
      const { lines, ways, wants } = group;
      const pays = ways.length === 1 ? ways[0] : undefined;
      const isOnly = [...wants.values()].every(
        ({ expectedPaymentId, isMultiUse }) => isMultiUse || isSingle(group, expectedPaymentId),
      );
      const could = [...wants.keys()].sort().slice(0, maxAlike);
      for (const line of lines) {
        const part = instalments?.get(line.nsu);
        if (pays && (isOnly || part)) {
          const payments = part ? [part] : whole(action, line, pays);
          this.ruled.set(line.nsu, { of: 'matched', rule: each, payments });
        } else this.ruled.set(line.nsu, { of: 'ambiguous', rule: each, could });
      }
      for (const { expectedPaymentId, isMultiUse } of wants.values())
        if (!isMultiUse) this.taken.add(expectedPaymentId);
    }
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
}

/** The line pays one with all of itself, or each of several what is owed of it. */
function whole(action: MatchAction, line: RuledLine, pays: RuledExpected[]): RuledPayment[] {
  const [one, ...others] = pays;
  if (one && others.length === 0) return [paymentOf(action, line, one)];
  return pays.map((expected) => {
    const amountCents = stillOwed(expected, { ...line, amountCents: 0n }) ?? 0n;
    const owedCents = expected.paidCents + amountCents;
    return { expected, amountCents, owedCents, differenceCents: 0n, settlement: 'settled' };
  });
}

/** Lines that pay one in parts, where together they are not more than is owed. */
function instalmentsOf(
  action: MatchAction,
  wanting: ReadonlyMap<string, readonly Alike[]>,
): Map<bigint, RuledPayment> {
  const parts = new Map<bigint, RuledPayment>();
  for (const [id, groups] of wanting) {
    const lines = groups.flatMap((group) => group.lines).sort(compareByTime);
    const expected = groups[0]?.wants.get(id);
    const isSure = groups.every(({ ways, wants }) => ways.length === 1 && wants.size === 1);
    if (!expected || expected.isMultiUse || !isSure || lines.length < 2) continue;
    let paid = 0n;
    const payments = lines.map((line) => {
      const before = { ...expected, paidCents: expected.paidCents + paid };
      paid += line.amountCents;
      return { nsu: line.nsu, ...paymentOf(action, line, before) };
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

function paymentOf(action: MatchAction, line: RuledLine, expected: RuledExpected): RuledPayment {
  const { amountCents } = line;
  const still = stillOwed(expected, line);
  const before = paidBefore(expected);
  const paid = before + amountCents;
  const differenceCents = still === null ? 0n : amountCents - still;
  const difference = differenceCents < 0n ? -differenceCents : differenceCents;
  const isTolerated = still !== null && difference <= toleranceOf(action, still);
  const owedCents = still === null ? null : isTolerated ? paid : before + still;
  const { isMultiUse } = expected;
  const settlement = settlementOfPaidAmount({ amountCents: owedCents, isMultiUse }, paid);
  return { expected, amountCents, owedCents, differenceCents, settlement };
}

function compareByTime(a: RuledLine, b: RuledLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

function put<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
