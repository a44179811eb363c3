// The approval policy in words, and as the form of its page writes it.
import { z } from 'zod';
import { LosslessNumber } from 'lossless-json';
import type { OperationSource } from '../../generated/service/enums.js';
import { formatReais, type Cents } from '../../brazil/cents.js';
import { sendingKinds } from '../../bank-contract/operation-kinds.js';
import { changeApprovalPolicy } from '../../outbound/operations/approvals.schema.js';
import { formatAmount } from '../formats.js';
import type { TextKey, Translate } from '../texts.js';
import { readTypedAmount } from '../typed-amount.js';

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

export type PolicyForm =
  | { ok: true; policy: z.output<typeof changeApprovalPolicy.body> }
  | { ok: false; wrong: TextKey[] };

const labels: Record<string, TextKey> = {
  aboveAmount: 'policy.aboveAmount',
  kinds: 'policy.kinds',
  sources: 'policy.sources',
  approvals: 'policy.approvals',
  expiresAfterHours: 'policy.hours',
  reason: 'app.reason',
};

/** Reads the form by the schema that the API has. */
export function readPolicyForm(form: URLSearchParams, reason: string): PolicyForm {
  const amountText = (form.get('aboveAmount') ?? '').trim();
  const amount = readTypedAmount(amountText);
  const parsed = z.safeDecode(changeApprovalPolicy.body, {
    aboveAmount: amount === null ? null : new LosslessNumber(formatReais(amount)),
    kinds: form.getAll('kinds'),
    sources: form.getAll('sources') as OperationSource[],
    approvals: new LosslessNumber(form.get('approvals') === '2' ? '2' : '1'),
    expiresAfterHours: hoursOf(form.get('expiresAfterHours')),
    newBeneficiary: form.get('newBeneficiary') === 'yes',
    reason,
  });
  const wrong = parsed.success ? [] : parsed.error.issues.map(({ path }) => String(path[0]));
  if (amountText !== '' && amount === null) wrong.push('aboveAmount');
  if (parsed.success && wrong.length === 0) return { ok: true, policy: parsed.data };
  const keys = [...new Set(wrong)].map((name) => labels[name] ?? 'policy.title');
  return { ok: false, wrong: keys };
}

function hoursOf(text: string | null): LosslessNumber {
  const hours = (text ?? '').trim();
  return new LosslessNumber(/^\d{1,4}$/.test(hours) ? String(Number(hours)) : '0');
}
