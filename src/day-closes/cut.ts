// Where the bank's balances and its days meet. Balances follow nsu and days follow the time of each line, and the two
// need not agree: a line of today may carry a number among yesterday's. The balance after as many lines as the days up
// to an instant have is theirs but for the lines that stand on the other side, which are listed: reconciling items.

export interface CutLine {
  nsu: bigint;
  occurredAt: Date;
  /** Negative for a debit. */
  signedCents: bigint;
}

export interface Cut {
  /** The last line that the balance counts; null before the first. */
  nsu: bigint | null;
  balanceCents: bigint;
  /** Lines that the balance counts and the days do not, or the other way round, by nsu. */
  items: CutLine[];
}

/**
 * The cut at the end of a day. `dayLines` are the day's; `following` as many lines as these are, those that follow the
 * cut before by nsu.
 */
export function cutAfter(
  before: Cut,
  dayEnd: Date,
  dayLines: readonly CutLine[],
  following: readonly (CutLine & { currentBalanceCents: bigint })[],
): Cut {
  const last = following.at(-1);
  const nsu = last?.nsu ?? before.nsu;
  const lines = new Map<bigint, CutLine>();
  for (const line of [...before.items, ...dayLines, ...following]) lines.set(line.nsu, line);
  const items = [...lines.values()]
    .filter((line) => isCounted(line, nsu) !== line.occurredAt < dayEnd)
    .map(({ nsu, occurredAt, signedCents }) => ({ nsu, occurredAt, signedCents }))
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1));
  return { nsu, balanceCents: last?.currentBalanceCents ?? before.balanceCents, items };
}

/** What the account held at the cut's instant, by the bank's own balances. */
export function heldAt({ nsu, balanceCents, items }: Cut): bigint {
  return items.reduce(
    (held, line) => (isCounted(line, nsu) ? held - line.signedCents : held + line.signedCents),
    balanceCents,
  );
}

function isCounted(line: CutLine, cutNsu: bigint | null): boolean {
  return cutNsu !== null && line.nsu <= cutNsu;
}
