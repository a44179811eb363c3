// The cut between two days. The bank's balances follow nsu, but days follow the time of each line.
// So a line of today may have an nsu among yesterday's lines. Lines are counted in nsu order. The
// cut after a day is the line at which the count reaches the number of lines of all days so far.
// The balance of the cut differs from the balance of the days by the lines on the wrong side of the
// cut. Those lines are listed as reconciling items, like the jumps of the balance at gaps that a
// person accepted.

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

/** A jump of the balance at a line, and the break in which a person accepted it. */
export interface AcceptedDifference extends CutLine {
  breakId: string;
  reason: string | null;
}

export interface Cut {
  /** The last line that the balance counts; null before the first line. */
  nsu: bigint | null;
  /** The end of the balance chain over these lines, in whatever order they were booked. */
  balanceCents: bigint;
  /** Lines that the balance contains and the days do not, or the reverse, in nsu order. */
  straddlingLines: CutLine[];
  /** Every accepted jump that the balance contains, from the first certificate on. */
  acceptedDifferences: AcceptedDifference[];
}

export interface DayOfCut {
  end: Date;
  lines: readonly CutLine[];
  /** The lines that follow the previous cut in nsu order, as many as the day has. */
  following: readonly CutLine[];
  /** Accepted jumps at the `following` lines. */
  acceptedDifferences: readonly AcceptedDifference[];
}

/**
 * The cut at the end of a day. The caller checks whether the balances of the following lines link.
 */
export function cutAfter(before: Cut, day: DayOfCut): Cut {
  const nsu = day.following.at(-1)?.nsu ?? before.nsu;
  const lines = new Map<bigint, CutLine>();
  for (const line of [...before.straddlingLines, ...day.lines, ...day.following])
    lines.set(line.nsu, line);
  const straddlingLines = [...lines.values()]
    .filter((line) => isCounted(line, nsu) !== line.occurredAt < day.end)
    .map(({ nsu, occurredAt, signedCents }) => ({ nsu, occurredAt, signedCents }))
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1));
  return {
    nsu,
    balanceCents:
      before.balanceCents + sumSignedCents(day.following) + sumSignedCents(day.acceptedDifferences),
    straddlingLines,
    acceptedDifferences: [...before.acceptedDifferences, ...day.acceptedDifferences],
  };
}

/** Whether the lines, in nsu order, link from the cut: each starts with the balance before it. */
export function isLinked(before: Cut, following: readonly FollowingLine[]): boolean {
  let balance = before.balanceCents;
  return following.every(({ balancePreviousCents, signedCents, currentBalanceCents }) => {
    const linksOn = balancePreviousCents === balance;
    const addsUp = balance + signedCents === currentBalanceCents;
    balance = currentBalanceCents;
    return linksOn && addsUp;
  });
}

/**
 * The account's balance at the end of the day by its lines: the balance of the cut, corrected by
 * the straddling lines and without the accepted jumps.
 */
export function balanceOfDays({
  nsu,
  balanceCents,
  straddlingLines,
  acceptedDifferences,
}: Cut): bigint {
  return straddlingLines.reduce(
    (balance, line) =>
      isCounted(line, nsu) ? balance - line.signedCents : balance + line.signedCents,
    balanceCents - sumSignedCents(acceptedDifferences),
  );
}

function isCounted(line: CutLine, cutNsu: bigint | null): boolean {
  return cutNsu !== null && line.nsu <= cutNsu;
}

export function sumSignedCents(lines: readonly { signedCents: bigint }[]): bigint {
  return lines.reduce((sum, { signedCents }) => sum + signedCents, 0n);
}
