import { describe, expect, it } from '@jest/globals';
import { differentParts, type PaymentPart } from './payment-parts.js';

const part = (kind: PaymentPart['kind'], cents: number): PaymentPart => ({
  ...{ kind, amountCents: BigInt(cents) },
});
const taxes = [part('fee', 150), part('ibs', 1_000), part('cbs', 850)];
const named = (parts: PaymentPart[], difference: number) =>
  differentParts(parts, BigInt(difference)).map(
    ({ kind, expectedCents, actualCents }) => `${kind} ${expectedCents} ${actualCents}`,
  );

describe('parts that explain a difference', () => {
  it.each<[string, PaymentPart[], number, string[]]>([
    ['one that nobody withheld', taxes, 850, ['cbs 850 0']],
    ['two of them', taxes, 1_850, ['ibs 1000 0', 'cbs 850 0']],
    ['all of them: the gross came', taxes, 2_000, ['fee 150 0', 'ibs 1000 0', 'cbs 850 0']],
    ['none of several where no sum fits', taxes, 100, []],
    ['none of several where less came', taxes, -850, []],
    ['none where two explain it', [...taxes, part('iss', 150)], 150, []],
    ['the only one, withheld in part', [part('fee', 150)], 50, ['fee 150 100']],
    ['the only one, withheld in excess', [part('fee', 150)], -50, ['fee 150 200']],
    ['not the only one where more came than the gross', [part('fee', 150)], 151, []],
    ['none without parts', [], 100, []],
  ])('are %s', (_, parts, difference, expected) =>
    expect(named(parts, difference)).toEqual(expected),
  );
});
