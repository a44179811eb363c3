export interface Numbering {
  /** The highest nsu given. */
  lastNsu: bigint;
  /** An nsu that was passed over and waits for a line. */
  skippedNsu: bigint | null;
}

/**
 * The nsu of an account's next line. In commit order every second line takes the number that the one before it passed
 * over, as if its transaction had begun earlier and ended later: balances then follow the commits and not the numbers.
 */
export function nextNsu(
  { lastNsu, skippedNsu }: Numbering,
  order: 'nsu' | 'commit',
): Numbering & { nsu: bigint } {
  // Also after the mode was changed: a number that was passed over must not be missing for good.
  if (skippedNsu !== null) return { nsu: skippedNsu, lastNsu, skippedNsu: null };
  const following = lastNsu + 1n;
  if (order === 'nsu') return { nsu: following, lastNsu: following, skippedNsu: null };
  return { nsu: following + 1n, lastNsu: following + 1n, skippedNsu: following };
}
