// Parts of an amount that never come as money: a receipt's gross is what comes plus the fee and the
// taxes that others withhold from it. Pure.
import { z } from 'zod';

export const paymentPartKinds = [
  ...['fee', 'ibs', 'cbs', 'iss', 'irrf', 'inss', 'social_contributions', 'other'],
] as const;
export type PaymentPartKind = (typeof paymentPartKinds)[number];

export interface PaymentPart {
  kind: PaymentPartKind;
  amountCents: bigint;
}

/** As JSON has them, so that none is lost. */
export const storedCents = z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String });

export const storedParts = z.array(
  z.object({ kind: z.enum(paymentPartKinds), amountCents: storedCents }),
);

/** In cents. */
export function sumOfParts(parts: readonly PaymentPart[]): bigint {
  return parts.reduce((sum, { amountCents }) => sum + amountCents, 0n);
}

export interface DifferentPart {
  kind: PaymentPartKind;
  expectedCents: bigint;
  actualCents: bigint;
}

/**
 * The parts that explain why `differenceCents` more (or less, if negative) came than was expected:
 * those that nobody withheld, or the only part, withheld in another amount. Empty where the
 * difference may have more than one cause, or no part is one.
 */
export function differentParts(
  parts: readonly PaymentPart[],
  differenceCents: bigint,
): DifferentPart[] {
  const [only, ...others] = parts;
  const [missing, ...otherCauses] = subsetsOf(parts).filter(
    (some) => some.length > 0 && sumOfParts(some) === differenceCents,
  );
  if (missing && otherCauses.length === 0)
    return missing.map(({ kind, amountCents }) => ({
      ...{ kind, expectedCents: amountCents, actualCents: 0n },
    }));
  if (!only || others.length > 0 || differenceCents > only.amountCents) return [];
  const { kind, amountCents } = only;
  return [{ kind, expectedCents: amountCents, actualCents: amountCents - differenceCents }];
}

const subsetsOf = <Item>(items: readonly Item[]): Item[][] =>
  items.reduce<Item[][]>(
    (subsets, item) => [...subsets, ...subsets.map((some) => [...some, item])],
    [[]],
  );
