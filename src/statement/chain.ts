// The chain of balances: each line begins with the balance that another left. Numbers need not follow it: a bank may
// number lines in another order than it books them. Neighbours are therefore linked by their balances, and only what no
// order of theirs explains is a hole.

/** A line as a link of the chain, in cents. */
export interface Link {
  nsu: bigint;
  previous: bigint;
  current: bigint;
  /** Negative for a debit. */
  signed: bigint;
}

export interface Gap {
  /** The first line that does not follow. */
  nsu: bigint;
  /** The line that the chain had come to before it, and what it left; null at the very first line. */
  afterNsu: bigint | null;
  balanceCents: bigint | null;
}

/** Where a walk stands between two groups of lines that are linked each in itself. */
interface Boundary {
  index: number;
  balance: bigint | null;
}

/** What the balance jumps by at a hole: what the lines that are missing come to. */
export interface Jump {
  nsu: bigint;
  cents: bigint;
}

export interface Walked {
  gap: Gap | null;
  /** At the accepted holes that the walk came by. */
  jumps: Jump[];
  /** What the chain has come to; null before the first line. */
  balance: bigint | null;
  /** How many lines are linked up to there. */
  linked: number;
  /** Where the walk can be taken up again when more lines are known. */
  resume: Boundary;
}

/** How far from each other, in the order of their numbers, lines may stand that follow each other. */
export const linkWindow = 50;

interface WalkOptions {
  /** What was left before the first line; null where that is not known, or nothing was. */
  start: bigint | null;
  /** Whether more lines follow that are not given: then the last of these cannot be judged. */
  isCut?: boolean;
  /** Whether a person has taken a hole for what it is: there, with this jump. */
  isAccepted?: (jump: Jump) => boolean;
}

/** Walks lines in the order of their numbers and says where their balances do not link, whichever way they are put. */
export function walkChain(links: readonly Link[], options: WalkOptions): Walked {
  const { isAccepted = () => false } = options;
  const jumps: Jump[] = [];
  const boundaries: Boundary[] = [{ index: 0, balance: options.start }];
  const end = options.isCut ? links.length - linkWindow : links.length;
  for (;;) {
    const at = boundaries.at(-1) as Boundary;
    const first = links[at.index];
    if (!first || at.index >= end) return { gap: null, jumps, ...standing(boundaries) };
    const next = addsUp(first) ? linkFrom(links, boundaries) : null;
    if (next) {
      boundaries.push(next);
      continue;
    }
    const cents = first.current - first.signed - (at.balance ?? first.previous);
    const jump = { nsu: first.nsu, cents };
    if (!isAccepted(jump)) return { gap: gapAt(links, at), jumps, ...standing(boundaries) };
    jumps.push(jump);
    boundaries.splice(0, Infinity, { index: at.index + 1, balance: first.current });
  }
}

function standing(boundaries: Boundary[]): Pick<Walked, 'balance' | 'linked' | 'resume'> {
  const last = boundaries.at(-1) as Boundary;
  const resume = boundaries.at(-linkWindow) ?? (boundaries[0] as Boundary);
  return { balance: last.balance, linked: last.index, resume };
}

/** What was left before the first of these lines, however they are numbered; they begin the history. */
export function balanceBefore(links: readonly Link[], isCut: boolean): bigint | null {
  const { balance, linked } = walkChain(links, { start: null, isCut });
  if (balance === null) return links[0]?.previous ?? null;
  return links.slice(0, linked).reduce((left, { signed }) => left - signed, balance);
}

function addsUp({ previous, signed, current }: Link): boolean {
  return previous + signed === current;
}

function gapAt(links: readonly Link[], { index, balance }: Boundary): Gap {
  return {
    nsu: (links[index] as Link).nsu,
    afterNsu: links[index - 1]?.nsu ?? null,
    balanceCents: balance,
  };
}

/**
 * The end of the shortest group of lines that link from where the walk stands. Where there is none, groups before it
 * are taken apart again, the last first: what was left out of one may belong into it.
 */
function linkFrom(links: readonly Link[], boundaries: Boundary[]): Boundary | null {
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

/** The shortest group from a boundary that ends beyond `furthest` and links from end to end, in some order. */
function shortestGroup(links: readonly Link[], from: Boundary, furthest: number): Boundary | null {
  /** How many lines more begin than end with a balance; those with as many are left out. */
  const open = new Map<bigint, number>();
  const add = (balance: bigint, by: number) => {
    const sum = (open.get(balance) ?? 0) + by;
    if (sum === 0) open.delete(balance);
    else open.set(balance, sum);
  };
  const last = Math.min(links.length, furthest + linkWindow);
  for (let index = from.index; index < last; index += 1) {
    const link = links[index] as Link;
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

/** Where a trail over all lines begins and ends; nulls where there can be none. A round ends where it begins. */
function endsOf(
  open: ReadonlyMap<bigint, number>,
  around: bigint,
): [bigint, bigint] | [null, null] {
  if (open.size === 0) return [around, around];
  const begin = [...open].find(([, sum]) => sum === 1)?.[0];
  const end = [...open].find(([, sum]) => sum === -1)?.[0];
  return begin === undefined || end === undefined ? [null, null] : [begin, end];
}

/** Whether every line can be come to from the balance, going either way along lines. */
function isConnected(group: readonly Link[], from: bigint): boolean {
  const reached = new Set([from]);
  let left = [...group];
  for (;;) {
    const rest = left.filter(({ previous, current }) => {
      if (!reached.has(previous) && !reached.has(current)) return true;
      reached.add(previous).add(current);
      return false;
    });
    if (rest.length === 0) return true;
    if (rest.length === left.length) return false;
    left = rest;
  }
}
