// Of which Pix a debit is that carries no id of it. The only Pix of its payer that it can refund is
// evidence, while no refund of ours may be the debit. Anything less leaves it to a person.
import { netCentsOf, refundableCents, type PixLine, type RefundsOfPix } from './refunds-of-pix.js';

/** A received Pix that may be the original of a debit: by payer, time and amount. */
export interface PossibleOriginal {
  nsu: bigint;
  /** Both lines show one payer. Otherwise one of them shows none. */
  isOfPayer: boolean;
}

/** A debit with more possible originals than this has no known one. */
export const maxPossibleOriginals = 50;

export interface RefundedOriginal extends PossibleOriginal {
  amountCents: bigint;
  refunds: RefundsOfPix;
}

/** Those of which the statement does not show so much as refunded that the debit exceeds it. */
export function originalsWithEnoughLeft(
  { amountCents }: Pick<PixLine, 'amountCents'>,
  originals: readonly RefundedOriginal[],
): RefundedOriginal[] {
  return originals.filter((pix) => pix.amountCents - netCentsOf(pix.refunds.debits) >= amountCents);
}

/** The Pix that the debit refunds; null where there is a doubt. */
export function onlyOriginal(
  debit: Pick<PixLine, 'amountCents'>,
  originals: readonly RefundedOriginal[],
): bigint | null {
  const { amountCents } = debit;
  const mayBeOurs = originals.some(({ refunds }) =>
    refunds.pending.some((own) => own.amountCents === amountCents),
  );
  const [only, ...others] = originalsWithEnoughLeft(debit, originals);
  if (!only || others.length > 0 || !only.isOfPayer || mayBeOurs) return null;
  return refundableCents(only.amountCents, only.refunds) >= amountCents ? only.nsu : null;
}
