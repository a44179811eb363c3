// Where the bank's balances and its days meet. Balances follow nsu and days follow the time of each line, and the two
// need not agree: a line of today may carry a number among yesterday's. The balance after as many lines as the days up
// to an instant have is theirs but for the lines that stand on the other side, which are listed: reconciling items. So is
// what the balance jumped by where a person has accepted that lines are missing.

export interface CutLine {
  nsu: bigint;
  occurredAt: Date;
  /** Negative for a debit. */
  signedCents: bigint;
}

export interface FollowingLine extends CutLine {
  balancePreviousCents: bigint;
  currentBalanceCents: bigint;
}

/** What the balance jumps by at a line, and the break by which a person accepted it. */
export interface AcceptedDifference extends CutLine {
  breakId: string;
  reason: string | null;
}

export interface Cut {
  /** The last line that the balance counts; null before the first. */
  nsu: bigint | null;
  /** What the chain of balances has come to with these lines, in whichever order they were booked. */
  balanceCents: bigint;
  /** Lines that the balance counts and the days do not, or the other way round, by nsu. */
  items: CutLine[];
  /** All that the balance counts and no line explains, from the first certificate on. */
  differences: AcceptedDifference[];
}

export interface DayOfCut {
  end: Date;
  lines: readonly CutLine[];
  /** As many lines as the day has: those that follow the cut before by nsu. */
  following: readonly CutLine[];
  /** At lines among these. */
  differences: readonly AcceptedDifference[];
}

/** The cut at the end of a day. Whether the lines that follow are linked by their balances is for the chain to say. */
export function cutAfter(before: Cut, day: DayOfCut): Cut {
  const nsu = day.following.at(-1)?.nsu ?? before.nsu;
  const lines = new Map<bigint, CutLine>();
  for (const line of [...before.items, ...day.lines, ...day.following]) lines.set(line.nsu, line);
  const items = [...lines.values()]
    .filter((line) => isCounted(line, nsu) !== line.occurredAt < day.end)
    .map(({ nsu, occurredAt, signedCents }) => ({ nsu, occurredAt, signedCents }))
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1));
  return {
    nsu,
    balanceCents: before.balanceCents + sumOf(day.following) + sumOf(day.differences),
    items,
    differences: [...before.differences, ...day.differences],
  };
}

/** Whether each of the lines begins with what the one before it left. */
export function isStraight(before: Cut, following: readonly FollowingLine[]): boolean {
  let left = before.balanceCents;
  return following.every(({ balancePreviousCents, signedCents, currentBalanceCents }) => {
    const isLinked = balancePreviousCents === left && left + signedCents === currentBalanceCents;
    left = currentBalanceCents;
    return isLinked;
  });
}

/** What the account held at the cut's instant by its lines: by the balance, but for what is listed. */
export function heldAt({ nsu, balanceCents, items, differences }: Cut): bigint {
  return items.reduce(
    (held, line) => (isCounted(line, nsu) ? held - line.signedCents : held + line.signedCents),
    balanceCents - sumOf(differences),
  );
}

function isCounted(line: CutLine, cutNsu: bigint | null): boolean {
  return cutNsu !== null && line.nsu <= cutNsu;
}

export function sumOf(lines: readonly { signedCents: bigint }[]): bigint {
  return lines.reduce((sum, { signedCents }) => sum + signedCents, 0n);
}
