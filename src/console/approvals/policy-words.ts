// The approval policy in words, and as the form of its page writes it.
import { sendingKinds } from '../../bank-contract/operation-kinds.js';
import type { Cents } from '../../brazil/cents.js';
import type { OperationSource } from '../../generated/service/enums.js';
import {
  approvalPolicyView,
  changeApprovalPolicy,
} from '../../outbound/operations/approvals.schema.js';
import { formatAmount } from '../formats.js';
import { readBody, type FormFields, typedWhole } from '../kit/form.js';
import { typed, type Visit } from '../visit.js';
import type { Translate } from '../texts.js';
import { typedNumber } from '../typed-amount.js';

export interface WordedPolicy {
  aboveAmount: Cents | null;
  newBeneficiary: boolean;
  kinds: readonly string[];
  sources: readonly OperationSource[];
  approvals: number;
  expiresAfterHours: number;
}

/** A sentence for each part of the policy. */
export function policyWords(t: Translate, policy: WordedPolicy): string[] {
  const { aboveAmount, newBeneficiary, kinds, sources, approvals, expiresAfterHours } = policy;
  if (aboveAmount === null && !newBeneficiary) return [t('policy.off')];
  const kindNames = sendingKinds.filter((kind) => kinds.includes(kind));
  const words: string[] = [];
  if (aboveAmount === 0n) words.push(t('policy.every'));
  else if (aboveAmount !== null)
    words.push(t('policy.above', { amount: formatAmount(aboveAmount) }));
  if (newBeneficiary && aboveAmount !== 0n) words.push(t('policy.newBeneficiary'));
  if (kinds.length > 0)
    words.push(
      t('policy.onlyKinds', {
        names: kindNames.map((kind) => t(`approvals.kind.${kind}`)).join(', '),
      }),
    );
  if (sources.length > 0)
    words.push(
      t('policy.onlySources', {
        names: sources.map((source) => t(`approvals.source.${source}`)).join(', '),
      }),
    );
  words.push(t(approvals === 2 ? 'policy.approvals.2' : 'policy.approvals.1'));
  words.push(t('policy.expires', { hours: expiresAfterHours }));
  return words;
}

const { options: sources } = approvalPolicyView.shape.sources.element;

export const policyFields = (t: Translate) =>
  ({
    aboveAmount: { label: 'policy.aboveAmount', hint: 'policy.aboveHint', is: 'amount' },
    newBeneficiary: { label: 'policy.newField', is: 'check' },
    kinds: {
      ...{ label: 'policy.kinds', hint: 'policy.noneIsAll', is: 'choices' },
      options: sendingKinds.map((kind) => [kind, t(`approvals.kind.${kind}`)]),
    },
    sources: {
      ...{ label: 'policy.sources', hint: 'policy.noneIsAll', is: 'choices' },
      options: sources.map((one) => [one, t(`approvals.source.${one}`)]),
    },
    approvals: {
      ...{ label: 'policy.approvals', is: 'choice' },
      options: ['1', '2'].map((count) => [count, count]),
    },
    expiresAfterHours: { label: 'policy.hours', is: 'number' },
  }) as const satisfies FormFields;

/** No amount is a choice; no number of hours is wrong. */
export function readPolicyForm(visit: Visit) {
  return readBody(changeApprovalPolicy.body, {
    ...typedWhole(visit, policyFields(visit.t)),
    approvals: typedNumber(typed(visit, 'approvals')),
    reason: typed(visit, 'reason'),
  });
}
