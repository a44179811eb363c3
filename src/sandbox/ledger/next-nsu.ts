// Which nsu the next line of an account gets.
export interface Numbering {
  /** The highest nsu that a line has. */
  lastNsu: bigint;
  /** A lower nsu that was skipped and that the next line gets; null when there is none. */
  skippedNsu: bigint | null;
}

/**
 * The nsu of an account's next line. In the order `commit` every second line gets the nsu that the
 * line before it skipped. It is as if its database transaction began earlier and ended later.
 * Balances then follow the order of commits and not the order of nsu.
 */
export function nextNsu(
  { lastNsu, skippedNsu }: Numbering,
  order: 'nsu' | 'commit',
): Numbering & { nsu: bigint } {
  // Also after the mode changed: a skipped number must not stay missing.
  if (skippedNsu !== null) return { nsu: skippedNsu, lastNsu, skippedNsu: null };
  const following = lastNsu + 1n;
  if (order === 'nsu') return { nsu: following, lastNsu: following, skippedNsu: null };
  return { nsu: following + 1n, lastNsu: following + 1n, skippedNsu: following };
}
