// Compares the balances that the bank reports with the balance of the statement's last line.

export interface ReportedBalances {
  amountAvailable: bigint;
  amountBlocked?: bigint | null | undefined;
  amountTotal?: bigint | null | undefined;
}

/** The balance that the bank reports, with blocked amounts if it reports them. */
export function liveCentsOf({ amountAvailable, amountBlocked, amountTotal }: ReportedBalances) {
  return amountTotal ?? amountAvailable + (amountBlocked ?? 0n);
}

/**
 * The statement shows what was booked, blocked amounts included. Where the bank reports only the
 * available amount, a lower amount may be due to a block and shows nothing; a higher amount is a
 * real difference.
 */
export function compareBalances(
  reported: ReportedBalances,
  lineCents: bigint,
): { liveCents: bigint; differenceCents: bigint } {
  const { amountBlocked = null, amountTotal = null } = reported;
  const liveCents = liveCentsOf(reported);
  const differenceCents = liveCents - lineCents;
  const mayBeBlocked = amountTotal === null && amountBlocked === null && differenceCents < 0n;
  return { liveCents, differenceCents: mayBeBlocked ? 0n : differenceCents };
}
