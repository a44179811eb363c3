import { describe, expect, it } from '@jest/globals';
import {
  approvalConditionOf,
  isSamePolicy,
  noApprovalPolicy,
  weakensPolicy,
  type ApprovalPolicy,
} from './approval-policy.js';

const policy = (changes: Partial<ApprovalPolicy> = {}): ApprovalPolicy => ({
  ...noApprovalPolicy,
  aboveCents: 100_00n,
  ...changes,
});

describe('an approval policy', () => {
  const request = { kind: 'pay_bill', source: 'api', amountCents: 100_01n } as const;

  it.each<[string, Partial<ApprovalPolicy>, object, string | null]>([
    ['a larger amount', {}, {}, 'amount'],
    ['not the amount itself', {}, { amountCents: 100_00n }, null],
    ['each amount above zero', { aboveCents: 0n }, { amountCents: 1n }, 'amount'],
    ['no amount where none is given', { aboveCents: null }, {}, null],
    ['a new beneficiary of less', { newBeneficiary: true }, { amountCents: 1n }, 'new_beneficiary'],
    ['a kind of its list', { kinds: ['pay_bill'] }, {}, 'amount'],
    ['no other kind', { kinds: ['refund_pix'], newBeneficiary: true }, {}, null],
    ['a source of its list', { sources: ['api', 'bulk'] }, {}, 'amount'],
    ['no other source', { sources: ['bulk'], newBeneficiary: true }, {}, null],
  ])('covers %s', (_, changes, requested, condition) => {
    expect(approvalConditionOf(policy(changes), { ...request, ...requested })).toBe(condition);
  });

  it.each<[string, boolean, Partial<ApprovalPolicy>, Partial<ApprovalPolicy>]>([
    ['the first one', false, { aboveCents: null }, { aboveCents: 5n }],
    ['a smaller amount', false, {}, { aboveCents: 1n }],
    ['a larger amount', true, {}, { aboveCents: 100_01n }],
    ['no amount', true, {}, { aboveCents: null, newBeneficiary: true }],
    ['new beneficiaries too', false, {}, { newBeneficiary: true }],
    ['new beneficiaries no more', true, { newBeneficiary: true }, {}],
    ['a list of kinds', true, {}, { kinds: ['pay_bill'] }],
    ['all kinds', false, { kinds: ['pay_bill'] }, {}],
    ['another kind', true, { kinds: ['pay_bill'] }, { kinds: ['refund_pix'] }],
    ['a kind more', false, { kinds: ['pay_bill'] }, { kinds: ['refund_pix', 'pay_bill'] }],
    ['a list of sources', true, {}, { sources: ['api', 'bulk', 'policy'] }],
    ['two approvals', false, {}, { approvals: 2 }],
    ['one approval', true, { approvals: 2 }, { approvals: 1 }],
    ['less and more at once', true, {}, { aboveCents: 100_01n, approvals: 2 }],
    ['a later expiry', false, {}, { expiresAfterHours: 720 }],
  ])('changed to %s is weaker: %s', (_, isWeaker, from, to) => {
    expect(weakensPolicy(policy(from), policy(to))).toBe(isWeaker);
  });

  it('is the same in any order of its lists', () => {
    const one = policy({ kinds: ['a', 'b'], sources: ['api', 'bulk'] });
    const other = policy({ kinds: ['b', 'a'], sources: ['bulk', 'api'] });
    expect(isSamePolicy(one, other)).toBe(true);
    for (const change of [
      { kinds: ['a'] },
      { sources: [] },
      { approvals: 2 },
      { aboveCents: null },
      { newBeneficiary: true },
      { expiresAfterHours: 1 },
    ])
      expect(isSamePolicy(one, { ...one, ...change })).toBe(false);
  });
});
