// The balance chain: each line's previous balance is the current balance of the line booked before
// it. A bank may number lines in another order than it books them. Nearby lines are therefore
// linked by their balances, and a gap is only where no order of the nearby lines explains the
// balances.

/** A line as a link of the chain, in cents. */
export interface ChainLink {
  nsu: bigint;
  previous: bigint;
  current: bigint;
  /** Negative for a debit. */
  signed: bigint;
}

export interface Gap {
  /** The first line that does not follow from the lines before it. */
  nsu: bigint;
  /**
   * The line before the gap and the balance that the chain had reached there; null at the very
   * first line.
   */
  afterNsu: bigint | null;
  balanceCents: bigint | null;
}

/** A position between two groups of lines; the lines of each group link among themselves. */
interface Boundary {
  index: number;
  balance: bigint | null;
}

/** The amount by which the balance jumps at a gap: the net amount of the missing lines. */
export interface Jump {
  nsu: bigint;
  cents: bigint;
}

export interface BalanceChainCheck {
  gap: Gap | null;
  /** The jumps at accepted gaps that the check passed. */
  jumps: Jump[];
  /** The balance that the chain reached; null before the first line. */
  balance: bigint | null;
  /** The number of lines linked up to that balance. */
  linked: number;
  /** Where the check can resume when more lines are available. */
  resume: Boundary;
}

/** The largest distance, in nsu order, between two consecutive lines of the chain. */
export const linkWindow = 50;

interface CheckOptions {
  /**
   * The balance before the first line; null when it is unknown, or when the history begins there.
   */
  start: bigint | null;
  /**
   * Whether more lines follow after the given lines. If so, the last given lines are not checked
   * yet.
   */
  isCut?: boolean;
  /** Whether a person accepted a gap at this nsu with this jump. */
  isAccepted?: (jump: Jump) => boolean;
}

/**
 * Checks lines in nsu order and reports the first gap that no order of the nearby lines explains.
 */
export function checkBalanceChain(
  links: readonly ChainLink[],
  options: CheckOptions,
): BalanceChainCheck {
  const { isAccepted = () => false } = options;
  const jumps: Jump[] = [];
  const boundaries: Boundary[] = [{ index: 0, balance: options.start }];
  const end = options.isCut ? links.length - linkWindow : links.length;
  for (;;) {
    const boundary = boundaries.at(-1) as Boundary;
    const first = links[boundary.index];
    if (!first || boundary.index >= end) return { gap: null, jumps, ...reached(boundaries) };
    const next = addsUp(first) ? linkFrom(links, boundaries) : null;
    if (next) {
      boundaries.push(next);
      continue;
    }
    const cents = first.current - first.signed - (boundary.balance ?? first.previous);
    const jump = { nsu: first.nsu, cents };
    if (!isAccepted(jump)) return { gap: gapAt(links, boundary), jumps, ...reached(boundaries) };
    jumps.push(jump);
    boundaries.splice(0, Infinity, { index: boundary.index + 1, balance: first.current });
  }
}

function reached(boundaries: Boundary[]): Pick<BalanceChainCheck, 'balance' | 'linked' | 'resume'> {
  const last = boundaries.at(-1) as Boundary;
  const resume = boundaries.at(-linkWindow) ?? (boundaries[0] as Boundary);
  return { balance: last.balance, linked: last.index, resume };
}

/**
 * The balance before these lines, whatever their nsu order. They must be the first of the history.
 */
export function balanceBefore(links: readonly ChainLink[], isCut: boolean): bigint | null {
  const { balance, linked } = checkBalanceChain(links, { start: null, isCut });
  if (balance === null) return links[0]?.previous ?? null;
  return links.slice(0, linked).reduce((before, { signed }) => before - signed, balance);
}

function addsUp({ previous, signed, current }: ChainLink): boolean {
  return previous + signed === current;
}

function gapAt(links: readonly ChainLink[], { index, balance }: Boundary): Gap {
  return {
    nsu: (links[index] as ChainLink).nsu,
    afterNsu: links[index - 1]?.nsu ?? null,
    balanceCents: balance,
  };
}

/**
 * The end of the shortest group of lines that links from the last boundary. If no such group
 * exists, earlier groups are merged again, beginning with the last group, because a line after a
 * group may belong to it.
 */
function linkFrom(links: readonly ChainLink[], boundaries: Boundary[]): Boundary | null {
  const furthest = (boundaries.at(-1) as Boundary).index;
  for (let back = 1; back <= Math.min(boundaries.length, linkWindow); back += 1) {
    const from = boundaries.at(-back) as Boundary;
    const next = shortestGroup(links, from, furthest);
    if (!next) continue;
    boundaries.splice(boundaries.length - back + 1);
    return next;
  }
  return null;
}

/**
 * The shortest group from a boundary that ends beyond `furthest` and whose lines link in some
 * order.
 */
function shortestGroup(
  links: readonly ChainLink[],
  from: Boundary,
  furthest: number,
): Boundary | null {
  /**
   * For each balance, the lines that begin with it less the lines that end with it; zeros are left
   * out.
   */
  const open = new Map<bigint, number>();
  const add = (balance: bigint, by: number) => {
    const sum = (open.get(balance) ?? 0) + by;
    if (sum === 0) open.delete(balance);
    else open.set(balance, sum);
  };
  const last = Math.min(links.length, furthest + linkWindow);
  for (let index = from.index; index < last; index += 1) {
    const link = links[index] as ChainLink;
    if (!addsUp(link)) return null;
    add(link.previous, 1);
    add(link.current, -1);
    if (index < furthest || open.size > 2) continue;
    const [begin, balance] = endsOf(open, from.balance ?? link.previous);
    if (begin === null || (from.balance !== null && begin !== from.balance)) continue;
    if (isConnected(links.slice(from.index, index + 1), begin))
      return { index: index + 1, balance };
  }
  return null;
}

/**
 * The balances at which a path over all lines begins and ends (an Euler path: lines are edges
 * between balances); nulls where no such path exists. A path that is a cycle begins and ends at
 * `cycleStart`.
 */
function endsOf(
  open: ReadonlyMap<bigint, number>,
  cycleStart: bigint,
): [bigint, bigint] | [null, null] {
  if (open.size === 0) return [cycleStart, cycleStart];
  const begin = [...open].find(([, sum]) => sum === 1)?.[0];
  const end = [...open].find(([, sum]) => sum === -1)?.[0];
  return begin === undefined || end === undefined ? [null, null] : [begin, end];
}

/** Whether every line can be reached from the balance, following lines in either direction. */
function isConnected(group: readonly ChainLink[], from: bigint): boolean {
  const reachedBalances = new Set([from]);
  let unreached = [...group];
  for (;;) {
    const remaining = unreached.filter(({ previous, current }) => {
      if (!reachedBalances.has(previous) && !reachedBalances.has(current)) return true;
      reachedBalances.add(previous).add(current);
      return false;
    });
    if (remaining.length === 0) return true;
    if (remaining.length === unreached.length) return false;
    unreached = remaining;
  }
}
