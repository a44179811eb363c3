// The stored form of a rule version: JSON with cents as strings, so that none is lost. And the rule
// that every account begins with; it can be retired and replaced like any other.
import { v5 as uuidv5 } from 'uuid';
import type { AppliedRule, MatchAction, RuleAction, RuleCondition } from '../decide/rule.js';

type Stored<Value> = { [Key in keyof Value]: Value[Key] extends bigint ? string : Value[Key] };

export interface StoredDefinition {
  when: Omit<RuleCondition, 'minCents' | 'maxCents'> & { minCents?: string; maxCents?: string };
  then: Extract<RuleAction, { do: 'classify' }> | ({ do: 'match' } & Stored<MatchAction>);
}

export interface StoredRule {
  ruleId: string;
  version: number;
  priority: number;
  definition: unknown;
  activatedAt?: Date | null;
}

export function writeStored({ when, then }: Pick<AppliedRule, 'when' | 'then'>): StoredDefinition {
  const { minCents, maxCents, ...others } = when;
  return {
    when: {
      ...others,
      ...(minCents === undefined ? {} : { minCents: minCents.toString() }),
      ...(maxCents === undefined ? {} : { maxCents: maxCents.toString() }),
    },
    then:
      then.do === 'classify'
        ? then
        : {
            ...then,
            toleranceCents: then.toleranceCents.toString(),
            toleranceBasisPoints: then.toleranceBasisPoints.toString(),
          },
  };
}

export function readStored({ definition, ...rule }: StoredRule): AppliedRule {
  // Only `writeStored` writes this JSON, and it never changes.
  const { when, then } = definition as StoredDefinition;
  const { minCents, maxCents, ...others } = when;
  return {
    ...rule,
    when: {
      ...others,
      ...(minCents === undefined ? {} : { minCents: BigInt(minCents) }),
      ...(maxCents === undefined ? {} : { maxCents: BigInt(maxCents) }),
    },
    then:
      then.do === 'classify'
        ? then
        : {
            ...then,
            toleranceCents: BigInt(then.toleranceCents),
            toleranceBasisPoints: BigInt(then.toleranceBasisPoints),
          },
  };
}

const namespace = '0b5c5a0e-93f5-5c5e-8f0e-5b1d7c1f7a44';

const feeTypes = ['DEBIT_FEE', 'FEE', 'DEBIT_TARIFF', 'TARIFF', 'DEBIT_TARIFA', 'TARIFA'];

/** Classifies the bank's fees, by the type names that banks use. */
export function bankFees(accountId: number) {
  return {
    id: uuidv5(`${accountId} bank-fees`, namespace),
    name: 'Bank fees',
    priority: 1_000,
    definition: writeStored({
      when: { isCredit: false, types: feeTypes.map((type) => `${type}*`) },
      then: { do: 'classify', classify: 'fee', reason: 'The bank charged for its services.' },
    }),
  };
}
