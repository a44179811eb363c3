// What comes from the database and is looked up by its name has a text.
import { expect, it } from '@jest/globals';
import { referenceKinds } from '../../statement/expected-payments/references.js';
import { ClassificationCategory } from '../../generated/service/enums.js';
import type { MatchRule } from '../../reconciliation/decide/model.js';
import { findTextKey } from '../texts.js';

const matchRules: Record<MatchRule, true> = {
  ...{ manual: true, reference: true, original: true },
  ...{ counterparty: true, declared: true, reversal: true },
};

it.each([
  ['referenceKind', referenceKinds],
  ['ruleCategory', Object.values(ClassificationCategory)],
  ['paymentRule', Object.keys(matchRules)],
])('names each %s', (prefix, names) => {
  expect(names.filter((name) => !findTextKey(`${prefix}.${name}`))).toEqual([]);
});
