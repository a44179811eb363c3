// Whether the bank charged the fees that were agreed: fee lines, the items of the statement that
// they are about, and the price lists. The same facts give the same result, in whatever order they
// came. Days and months are those of São Paulo.
import {
  addDays,
  monthAfter,
  monthBefore,
  monthOf,
  type PlainDate,
} from '../../brazil/calendar.js';
import type { TariffCharged, TariffKind, TariffPeriod } from '../../generated/service/client.js';
import { groupBy } from '../../platform/grouping.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';

/** The price of one kind of item. */
export interface AgreedTariff {
  kind: TariffKind;
  period: TariffPeriod;
  charged: TariffCharged;
  priceCents: bigint;
  /** So many items of each month cost nothing. */
  freeItems: number;
  /** From the item of a month with this number on, its price; ascending. */
  tiers: readonly { from: number; priceCents: bigint }[];
  /** What the notes or the type of its fee lines contain; null for those of no other tariff. */
  text: string | null;
}

export interface AgreedPrices {
  version: number;
  validFrom: PlainDate;
  tariffs: readonly AgreedTariff[];
}

/** A debit that is classified as a fee. */
export interface FeeLine {
  nsu: bigint;
  day: PlainDate;
  amountCents: bigint;
  typeName: string;
  notes: string | null;
  /** The item whose id the fee line has; all null where it has none. */
  itemNsu: bigint | null;
  itemKind: TariffKind | null;
  itemDay: PlainDate | null;
}

/** How many items of a kind a day has. */
export interface ItemCount {
  kind: TariffKind;
  day: PlainDate;
  items: number;
}

export interface FeeFacts {
  lines: readonly FeeLine[];
  /** Of all days of the months of the periods that are checked. */
  counts: readonly ItemCount[];
  lists: readonly AgreedPrices[];
  /** The day up to which the statement is known, which itself is not over. */
  today: PlainDate;
}

/**
 * `mismatch`: another amount than agreed, or none was. `waiting`: its period is not over.
 * `unpriced`: no price list was valid on the first day of its period.
 */
export type FeeState = 'explained' | 'mismatch' | 'waiting' | 'unpriced';

export interface CheckedFee {
  nsu: bigint;
  day: PlainDate;
  /** Null for a fee of no tariff: none was agreed. */
  kind: TariffKind | null;
  /** The day, yyyy-mm-dd, or the month, yyyy-mm, that the fee is about. */
  period: string;
  state: FeeState;
  chargedCents: bigint;
  /** Null while it is not known. */
  expectedCents: bigint | null;
  /** The list by which the line was read; null without one. */
  version: number | null;
}

/** What was charged too much; negative for too little, zero where nothing is known. */
export const overchargeOf = ({ chargedCents, expectedCents }: CheckedFee): bigint =>
  chargedCents - (expectedCents ?? chargedCents);

/**
 * The list of a day: the last `validFrom` up to it, and of equal ones the last version. Null
 * without one, or where it is empty.
 */
export function pricesOn(lists: readonly AgreedPrices[], day: PlainDate): AgreedPrices | null {
  const last = lists
    .filter(({ validFrom }) => validFrom <= day)
    .reduce<AgreedPrices | null>((best, list) => {
      if (best === null || list.validFrom > best.validFrom) return list;
      return list.validFrom === best.validFrom && list.version > best.version ? list : best;
    }, null);
  return last?.tariffs.length ? last : null;
}

/** Whether a list in force has a tariff for the line. */
export const isPriced = (lists: readonly AgreedPrices[], line: FeeLine): boolean =>
  readLine({ lists }, line).tariff !== null;

/** Checks every fee line; those whose period has no counts are not to be used. */
export function checkFees(facts: FeeFacts): CheckedFee[] {
  const prices = new PricedItems(facts);
  const read = facts.lines.map((line) => readLine(facts, line));
  const groups = groupBy(read, ({ tariff, period }) => `${tariff?.kind ?? ''} ${period}`);
  return [...groups.values()]
    .flatMap((group) => checkGroup(facts, prices, group))
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1));
}

/** What the items of a month cost by the lists, charged or not, by kind. */
export function expectedOfMonth(facts: FeeFacts, month: string): Map<TariffKind, bigint> {
  const prices = new PricedItems(facts);
  const kinds = new Set(facts.lists.flatMap(({ tariffs }) => tariffs.map(({ kind }) => kind)));
  return new Map([...kinds].map((kind) => [kind, prices.ofMonth(kind, month)]));
}

interface ReadLine {
  line: FeeLine;
  list: AgreedPrices | null;
  tariff: AgreedTariff | null;
  period: string;
}

/**
 * By which tariff a line is read, and of which period it is. After a change of lists, the old one
 * still explains the fees of the month before.
 */
function readLine({ lists }: Pick<FeeFacts, 'lists'>, line: FeeLine): ReadLine {
  const { day } = line;
  const candidates = [line.itemDay ?? day, day, `${monthBefore(monthOf(day))}-01`];
  for (const date of candidates) {
    const list = pricesOn(lists, date);
    const tariff = list && tariffOf(list, line);
    if (tariff) return { line, list, tariff, period: periodOf(tariff, line) };
  }
  return { line, list: pricesOn(lists, day), tariff: null, period: day };
}

/** By its text, else by the item that it names, else the only tariff without a text. */
function tariffOf({ tariffs }: AgreedPrices, line: FeeLine): AgreedTariff | null {
  const shown = normalizeText(`${line.typeName} ${line.notes ?? ''}`);
  const byText = tariffs.find(({ text }) => text !== null && shown.includes(normalizeText(text)));
  if (byText) return byText;
  if (line.itemKind !== null) return tariffs.find(({ kind }) => kind === line.itemKind) ?? null;
  const others = tariffs.filter(({ text }) => text === null);
  return others.length === 1 ? (others[0] ?? null) : null;
}

function periodOf({ period, charged }: AgreedTariff, { day, itemDay }: FeeLine): string {
  const isNext = charged === 'next_period';
  if (period === 'month') return isNext ? monthBefore(monthOf(day)) : monthOf(day);
  if (period === 'each' && itemDay !== null) return itemDay;
  return isNext ? addDays(day, -1) : day;
}

/** The lines of one tariff and period, which share what is expected of it. */
function checkGroup(
  { lists, today }: FeeFacts,
  prices: PricedItems,
  group: readonly ReadLine[],
): CheckedFee[] {
  const [first] = group;
  if (!first) return [];
  const { tariff, period } = first;
  const isMonth = period.length === 7;
  const hasList = pricesOn(lists, isMonth ? `${period}-01` : period) !== null;
  const end = isMonth ? `${monthAfter(period)}-01` : addDays(period, 1);
  // Only a sum of its own period can come before the last of its items.
  const isSum = tariff !== null && tariff.kind !== 'package' && tariff.period !== 'each';
  const isWaiting = isSum && today < end;
  const ordered = [...group].sort((a, b) => (a.line.nsu < b.line.nsu ? -1 : 1));
  const lines = ordered.map(({ line }) => line);
  const expected = isWaiting || !hasList ? [] : sharesOf(tariff, period, lines, prices);
  return ordered.map(({ line: { nsu, day, amountCents: chargedCents }, list }, index) => {
    const expectedCents = expected[index] ?? null;
    const state = !hasList
      ? 'unpriced'
      : expectedCents === null
        ? 'waiting'
        : expectedCents === chargedCents
          ? 'explained'
          : 'mismatch';
    const version = list?.version ?? null;
    return {
      nsu,
      day,
      kind: tariff?.kind ?? null,
      period,
      state,
      chargedCents,
      expectedCents,
      version,
    };
  });
}

function sharesOf(
  tariff: AgreedTariff | null,
  period: string,
  lines: readonly FeeLine[],
  prices: PricedItems,
): bigint[] {
  if (tariff === null) return lines.map(() => 0n);
  if (tariff.period === 'each') return pricesOfEach(lines, prices.ofDay(tariff, period));
  const total =
    tariff.period === 'day'
      ? sumOf(prices.ofDay(tariff, period))
      : prices.ofMonth(tariff.kind, period, 'month');
  return partsOfSum(lines, total);
}

/**
 * A sum may come in parts: each line takes up to its amount of what is left, and the last line the
 * rest. What comes after all is charged was not agreed.
 */
function partsOfSum(lines: readonly FeeLine[], total: bigint): bigint[] {
  let left = total;
  return lines.map(({ amountCents }, index) => {
    const part = index === lines.length - 1 || amountCents > left ? left : amountCents;
    left -= part;
    return part;
  });
}

/**
 * Each line takes the price of one item: first those that charge exactly a price, then the others
 * the highest left. A second fee for one item, and one without an item, was not agreed.
 */
function pricesOfEach(lines: readonly FeeLine[], runs: readonly PriceRun[]): bigint[] {
  const left = new Map<bigint, number>();
  for (const { priceCents, items } of runs)
    left.set(priceCents, (left.get(priceCents) ?? 0) + items);
  const take = (priceCents: bigint | undefined): bigint | null => {
    const items = priceCents === undefined ? 0 : (left.get(priceCents) ?? 0);
    if (priceCents === undefined || items === 0) return null;
    left.set(priceCents, items - 1);
    return priceCents;
  };
  const seen = new Set<bigint>();
  const isAgain = ({ itemNsu }: FeeLine): boolean => {
    if (itemNsu === null) return false;
    return seen.has(itemNsu) || !seen.add(itemNsu);
  };
  const exact = lines.map((line) => (isAgain(line) ? 0n : take(line.amountCents)));
  return exact.map((taken) => {
    if (taken !== null) return taken;
    const prices = [...left].flatMap(([price, items]) => (items > 0 ? [price] : []));
    const highest = prices.reduce<bigint | undefined>(
      (most, price) => (most === undefined || price > most ? price : most),
      undefined,
    );
    return take(highest) ?? 0n;
  });
}

/** Consecutive items with one price. */
interface PriceRun {
  priceCents: bigint;
  items: number;
}

const sumOf = (runs: readonly PriceRun[]): bigint =>
  runs.reduce((sum, { priceCents, items }) => sum + priceCents * BigInt(items), 0n);

/** The prices of items by their number in the month, which begins with 1. */
function priceRuns(tariff: AgreedTariff, from: number, items: number): PriceRun[] {
  const { freeItems, tiers, priceCents } = tariff;
  const steps = [freeItems + 1, ...tiers.map((tier) => tier.from)].filter((step) => step > from);
  const end = from + items;
  const starts = [from, ...steps.filter((step) => step < end).sort((a, b) => a - b)];
  return starts.map((start, index) => ({
    priceCents:
      start <= freeItems
        ? 0n
        : (tiers.findLast((tier) => tier.from <= start)?.priceCents ?? priceCents),
    items: (starts[index + 1] ?? end) - start,
  }));
}

/** The items of the statement with their numbers in the month, which follow their days. */
class PricedItems {
  private readonly days = new Map<string, { first: number; items: number }>();
  private readonly byMonth: ReadonlyMap<string, ItemCount[]>;

  constructor(private readonly facts: FeeFacts) {
    this.byMonth = groupBy(facts.counts, ({ kind, day }) => `${kind} ${monthOf(day)}`);
    for (const counts of this.byMonth.values()) {
      let first = 1;
      for (const { kind, day, items } of counts.sort((a, b) => (a.day < b.day ? -1 : 1))) {
        this.days.set(`${kind} ${day}`, { first, items });
        first += items;
      }
    }
  }

  /** By the list of the day, where that charges this kind by the same period. */
  ofDay({ kind, period }: Pick<AgreedTariff, 'kind' | 'period'>, day: PlainDate): PriceRun[] {
    const counted = this.days.get(`${kind} ${day}`);
    const tariff = this.tariffOn(kind, day);
    if (!counted || tariff?.period !== period) return [];
    return priceRuns(tariff, counted.first, counted.items);
  }

  /** What a month costs: all of it, or what is charged by a period. */
  ofMonth(kind: TariffKind, month: string, period?: TariffPeriod): bigint {
    if (kind === 'package') return this.tariffOn(kind, `${month}-01`)?.priceCents ?? 0n;
    return (this.byMonth.get(`${kind} ${month}`) ?? []).reduce((sum, { day }) => {
      const by = period ?? this.tariffOn(kind, day)?.period;
      return by === undefined ? sum : sum + sumOf(this.ofDay({ kind, period: by }, day));
    }, 0n);
  }

  private tariffOn(kind: TariffKind, day: PlainDate): AgreedTariff | undefined {
    return pricesOn(this.facts.lists, day)?.tariffs.find((tariff) => tariff.kind === kind);
  }
}
