// The stored form of a rule version: JSON with cents as strings, so that none is lost. And the rule
// that every account begins with; it can be retired and replaced like any other.
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { feeWords } from '../../bank-contract/line-types.js';
import type { RuleVersion } from '../../generated/service/client.js';
import { salesGroups, type AppliedRule } from '../decide/rule.js';

type Definition = Pick<AppliedRule, 'when' | 'then'>;

/** A large number in JSON that the service stores: text, since a JSON number may lose digits. */
export const bigintText = z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String });

const storedDefinition = z.object({
  when: z.looseObject({ minCents: bigintText.optional(), maxCents: bigintText.optional() }),
  then: z.looseObject({
    toleranceCents: bigintText.optional(),
    toleranceBasisPoints: bigintText.optional(),
    toleranceMaxCents: bigintText.optional(),
    netSettlement: z
      .object({
        groupBy: z.enum(salesGroups),
        minFeeBasisPoints: bigintText,
        maxFeeBasisPoints: bigintText,
        minFeeCentsPerSale: bigintText,
        maxFeeCentsPerSale: bigintText,
      })
      .optional(),
  }),
});

export function writeStored({ when, then }: Definition) {
  return z.encode(storedDefinition, { when: { ...when }, then: { ...then } });
}

export type StoredRule = Pick<RuleVersion, 'ruleId' | 'version' | 'priority'> & {
  definition: unknown;
};

export function readStored({ definition, ...rule }: StoredRule): AppliedRule {
  // Only `writeStored` writes this JSON, and it never changes.
  return { ...rule, ...(storedDefinition.parse(definition) as unknown as Definition) };
}

const namespace = '0b5c5a0e-93f5-5c5e-8f0e-5b1d7c1f7a44';

/** A type name alone hides no debit: a person looks at one of more than a fee. */
const maxFeeCents = 10_000n;

/** Classifies the bank's fees, by the type names that banks use and by what fees amount to. */
export function bankFees(accountId: number) {
  return {
    id: uuidv5(`${accountId} bank-fees`, namespace),
    name: 'Bank fees',
    priority: 1_000,
    definition: writeStored({
      when: {
        isCredit: false,
        types: feeWords.flatMap((word) => [`DEBIT_${word}*`, `${word}*`]),
        maxCents: maxFeeCents,
      },
      then: { do: 'classify', classify: 'fee', reason: 'The bank charged for its services.' },
    }),
  };
}
