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
  /**
   * The lines that follow the previous cut in nsu order, as many as the day has: the last one, and
   * their sum. The nsu is null if there are none.
   */
  following: { lastNsu: bigint | null; cents: bigint };
  /** Lines of the day or of those that follow that may lie on different sides of the new cut. */
  straddlingLines: readonly CutLine[];
  /** Accepted jumps at the lines that follow. */
  acceptedDifferences: readonly AcceptedDifference[];
}

/**
 * The cut at the end of a day. The caller checks whether the balances of the following lines link.
 */
export function cutAfter(before: Cut, day: DayOfCut): Cut {
  const nsu = day.following.lastNsu ?? before.nsu;
  const lines = new Map<bigint, CutLine>();
  for (const line of [...before.straddlingLines, ...day.straddlingLines]) lines.set(line.nsu, line);
  const straddlingLines = [...lines.values()]
    .filter((line) => isCounted(line, nsu) !== line.occurredAt < day.end)
    .map(({ nsu, occurredAt, signedCents }) => ({ nsu, occurredAt, signedCents }))
    .sort((a, b) => (a.nsu < b.nsu ? -1 : 1));
  return {
    nsu,
    balanceCents:
      before.balanceCents + day.following.cents + sumSignedCents(day.acceptedDifferences),
    straddlingLines,
    acceptedDifferences: [...before.acceptedDifferences, ...day.acceptedDifferences],
  };
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
