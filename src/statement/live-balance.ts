// Compares the balances that the bank reports with the balance of the statement's last line.

export interface ReportedBalances {
  amountAvailable: bigint;
  amountBlocked?: bigint | null | undefined;
  amountTotal?: bigint | null | undefined;
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
  const { amountAvailable, amountBlocked = null, amountTotal = null } = reported;
  const totalCents =
    amountTotal ?? (amountBlocked === null ? null : amountAvailable + amountBlocked);
  const liveCents = totalCents ?? amountAvailable;
  const differenceCents = liveCents - lineCents;
  const mayBeBlocked = totalCents === null && differenceCents < 0n;
  return { liveCents, differenceCents: mayBeBlocked ? 0n : differenceCents };
}
