// What distinguishes two versions of a rule, part by part.
import type { RuleTerms } from '../../reconciliation/rules/rule-catalog.service.js';
import { type SentenceOptions, type SentencePart, sentenceParts } from './rule-sentence.js';

export interface RuleDifference {
  aspect: SentencePart['aspect'] | 'priority';
  /** Null for what the version did not have. */
  was: string | null;
  is: string | null;
}

export function differencesOf(
  before: RuleTerms,
  after: RuleTerms,
  options: SentenceOptions,
): RuleDifference[] {
  const [was, is] = [aspectsOf(before, options), aspectsOf(after, options)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((aspect) => ({ aspect, was: was.get(aspect) ?? null, is: is.get(aspect) ?? null }))
    .filter(({ was: one, is: other }) => one !== other);
}

function aspectsOf(terms: RuleTerms, options: SentenceOptions) {
  return new Map<RuleDifference['aspect'], string>([
    ['priority', String(terms.priority)],
    ...sentenceParts(terms, options).map(({ aspect, text }) => [aspect, text] as const),
  ]);
}
