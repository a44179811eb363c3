// What the bank's word on what an account holds says about the statement's last line.

export interface ReportedBalances {
  amountAvailable: bigint;
  amountBlocked?: bigint | null | undefined;
  amountTotal?: bigint | null | undefined;
}

/**
 * The statement tells what was booked, whether or not part of it is held. Where the bank tells only what can be used,
 * that it is less may be for what is held, and says nothing; that it is more cannot be.
 */
export function differenceOf(
  told: ReportedBalances,
  lineCents: bigint,
): { liveCents: bigint; differenceCents: bigint } {
  const { amountAvailable, amountBlocked = null, amountTotal = null } = told;
  const wholeCents =
    amountTotal ?? (amountBlocked === null ? null : amountAvailable + amountBlocked);
  const liveCents = wholeCents ?? amountAvailable;
  const differenceCents = liveCents - lineCents;
  const mayBeHeld = wholeCents === null && differenceCents < 0n;
  return { liveCents, differenceCents: mayBeHeld ? 0n : differenceCents };
}
