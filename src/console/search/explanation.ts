// Why a line is explained as it is, in words: sentences from what is stored of its decision.
import { formatAmount } from '../formats.js';
import type { Visit } from '../visit.js';
import { findTextKey, type TextKey } from '../texts.js';
import type { LineClassification, LineMatch, LineNotice } from './explanations.queries.js';

export interface ExplainedLine {
  state: 'matched' | 'classified' | 'in_break' | 'pending';
  /** Of the break for which the line counts as in a break. */
  breakKind: string | null;
  matches: readonly LineMatch[];
  classification: LineClassification | null;
  notice: LineNotice | null;
}

type Words = Pick<Visit, 't' | 'time'>;

/** A sentence names so many payments of a line. */
export const namedMatches = 3;

/** One sentence each for the break, the payments or the classification, and the webhook. */
export function explainLine(line: ExplainedLine, words: Words): string[] {
  const { breakKind, matches, classification, notice } = line;
  const { t, time } = words;
  const sentences = [
    ...(breakKind === null ? [] : [explainBreak(breakKind, words)]),
    ...matches.slice(0, namedMatches).map((match) => explainMatch(match, words)),
    ...(matches.length > namedMatches ? [t('line.why.more')] : []),
    ...(classification === null || matches.length > 0
      ? []
      : [explainClassification(classification, words)]),
  ];
  if (sentences.length === 0) sentences.push(t('line.why.pending'));
  if (notice === null) return sentences;
  const at = time(notice.receivedAt);
  const reference = nameOfReference(notice.referenceKind, words);
  return [...sentences, t('line.why.webhook', { reference, at })];
}

function explainBreak(kind: string, { t }: Words): string {
  const key = findTextKey(`line.why.break.${kind}`);
  return key ? t(key) : t('line.why.break', { kind });
}

/** `a cobrança pedido-1001`, or the kind alone. */
function nameOfRecord({ kind, label }: Pick<LineMatch, 'kind' | 'label'>, { t }: Words) {
  const key = findTextKey(`line.the.${kind}`) ?? 'line.the.declared';
  return [t(key), label].filter(Boolean).join(' ');
}

function nameOfReference(kind: string, { t }: Words): string {
  const key = findTextKey(`line.reference.kind.${kind}`);
  return key ? t(key) : kind;
}

function explainMatch(match: LineMatch, words: Words): string {
  const { t } = words;
  const pays: TextKey = match.role === 'reversal' ? 'line.why.reverses' : 'line.why.pays';
  const amount = formatAmount(match.amountCents);
  const subject = t(pays, { record: nameOfRecord(match, words), amount });
  return `${subject}: ${reasonOfMatch(match, words)}`;
}

interface Evidence {
  referenceKind?: unknown;
  referenceValue?: unknown;
  by?: unknown;
  fee?: unknown;
  instalment?: { number?: unknown };
}

function reasonOfMatch(match: LineMatch, words: Words): string {
  const { t } = words;
  const evidence = (match.evidence ?? {}) as Evidence;
  const by = Array.isArray(evidence.by) ? evidence.by : [];
  const criteria = by.map((one) => nameOfCriterion(String(one), words)).join(', ');
  switch (match.rule) {
    case 'reference':
    case 'reversal': {
      if (typeof evidence.referenceKind !== 'string') return t('line.why.byReversal');
      const same = findTextKey(`line.same.${evidence.referenceKind}`);
      const value = textOf(evidence.referenceValue);
      return t('line.why.byReference', {
        same: same ? t(same) : evidence.referenceKind,
        // The record is named by it already.
        value: value === match.label ? '' : value,
      }).replace(' .', '.');
    }
    case 'original':
      return t('line.why.byOriginal', { value: textOf(evidence.referenceValue) });
    case 'counterparty':
      return t('line.why.byCounterparty');
    case 'manual':
      return t('line.why.manually', { reason: match.reason ?? t('app.none') });
    case 'declared':
      if (match.ruleName === null) return t('line.why.byConditions', { criteria });
      return t('line.why.byRule', {
        rule: match.ruleName,
        version: match.ruleVersion ?? 1,
        criteria: criteria || t('app.none'),
      });
    default: {
      const same = findTextKey(`line.same.${match.rule}`);
      return same ? `${t(same)}.` : match.rule;
    }
  }
}

/** What a rule compared. Criteria of later versions are shown as they are stored. */
function nameOfCriterion(criterion: string, { t }: Words): string {
  const key = findTextKey(`line.criterion.${criterion}`);
  return key ? t(key) : criterion;
}

function explainClassification(classification: LineClassification, words: Words): string {
  const { t } = words;
  const { category, ruleName, ruleVersion, reason } = classification;
  const sentence = t(`line.why.${category}`);
  const rule =
    ruleName === null
      ? []
      : [t('line.why.classifiedByRule', { rule: ruleName, version: ruleVersion ?? 1 })];
  const because = reason === null ? [] : [t('word.because', { reason })];
  return [sentence, ...rule, ...because].join(' ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
