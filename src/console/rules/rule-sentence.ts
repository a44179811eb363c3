// Says what a rule does, in one sentence.
import { normalizeTaxId, parseTaxId, formatTaxId, maskTaxId } from '../../brazil/tax-id.js';
import { greatestTolerance } from '../../reconciliation/rules/rules.schema.js';
import type { Cents } from '../../brazil/cents.js';
import type { MatchAction, RuleAction, RuleCondition } from '../../reconciliation/decide/rule.js';
import { codingNames } from '../../statement/expected-payments/coding.js';
import { formatAmount } from '../formats.js';
import { findTextKey, type TextKey, type Translate } from '../texts.js';

export interface SentenceOptions {
  t: Translate;
  /** Whether the reader may see tax ids and accounts. */
  isVisible: boolean;
}

/** A part of the sentence: two versions of a rule are compared part by part. */
export interface SentencePart {
  aspect:
    | ('direction' | 'types' | 'document' | 'account' | 'amount' | 'notes' | 'pattern')
    | ('action' | 'window' | 'tolerance' | 'parts' | 'coding');
  text: string;
}

type Terms = { when: RuleCondition; then: RuleAction };

/** `Créditos do CPF/CNPJ … entre R$ 10,00 e R$ 20,00 são classificados como tarifa: …` */
export function ruleSentence({ when, then }: Terms, options: SentenceOptions): string {
  return `${linesCovered(when, options)} ${whatHappens(then, options)}`;
}

/** The first half: which lines. */
export function linesCovered(when: RuleCondition, options: SentenceOptions): string {
  return partsOfCondition(when, options)
    .map(({ text }) => text)
    .join(' ');
}

/** The second half: what such lines become. */
export function whatHappens(then: RuleAction, options: SentenceOptions): string {
  const texts = partsOfAction(then, options).map(({ text }) => text);
  return endSentence(texts.join('; '));
}

export function sentenceParts({ when, then }: Terms, options: SentenceOptions): SentencePart[] {
  return [...partsOfCondition(when, options), ...partsOfAction(then, options)];
}

function partsOfCondition(when: RuleCondition, { t, isVisible }: SentenceOptions): SentencePart[] {
  const { isCredit, types, document, counterparty, notes, notesPattern } = when;
  const direction = isCredit === undefined ? 'any' : isCredit ? 'credit' : 'debit';
  return filled({
    direction: t(`ruleSays.lines.${direction}`),
    types: types && typesText(types, t),
    document:
      document === undefined
        ? null
        : t('ruleSays.document', { document: shownTaxId(document, isVisible) }),
    account:
      counterparty &&
      t('ruleSays.account', {
        ...counterparty,
        number: isVisible ? counterparty.number : '***',
      }),
    amount: amountText(when, t),
    notes: notes === undefined ? null : t('ruleSays.notes', { text: notes }),
    pattern: notesPattern === undefined ? null : t('ruleSays.pattern', { text: notesPattern }),
  });
}

function partsOfAction(then: RuleAction, { t }: SentenceOptions): SentencePart[] {
  const words = codingNames.flatMap((name) => then.coding?.[name] ?? []).join(' · ');
  const coding = words === '' ? null : t('ruleSays.coding', { coding: words });
  if (then.do === 'classify') {
    const category = t(`ruleCategory.${then.classify}`).toLowerCase();
    return filled({
      action: t('ruleSays.classify', { category, reason: defaultText(then.reason, t) }),
      coding,
    });
  }
  const { window, netSettlement } = then;
  return filled({
    action: t(netSettlement ? 'ruleSays.matchSales' : 'ruleSays.match', {
      same: sameText(then, t),
    }),
    window: window && t('ruleSays.window', { before: window.daysBefore, after: window.daysAfter }),
    tolerance: toleranceText(then, t),
    parts: partsText(then, t),
    coding,
  });
}

/** Texts of the rule that the service makes for each account; texts of people stay as they are. */
const defaultTexts: Readonly<Record<string, TextKey>> = {
  'Bank fees': 'ruleDefault.bankFees',
  'The bank charged for its services.': 'ruleDefault.bankFeesReason',
};

export function defaultText(text: string, t: Translate): string {
  const key = Object.hasOwn(defaultTexts, text) ? defaultTexts[text] : undefined;
  return key ? t(key) : text;
}

function filled(
  texts: Partial<Record<SentencePart['aspect'], string | null | undefined>>,
): SentencePart[] {
  return Object.entries(texts).flatMap(([aspect, text]) =>
    text ? [{ aspect: aspect as SentencePart['aspect'], text }] : [],
  );
}

export function shownTaxId(document: string, isVisible: boolean): string {
  const parsed = parseTaxId(normalizeTaxId(document) ?? '');
  if (!parsed) return isVisible ? document : '***';
  return isVisible ? formatTaxId(parsed) : maskTaxId(parsed);
}

function typesText(types: readonly string[], t: Translate): string {
  // What a person typed stands in quotes.
  const names = types
    .filter((one) => !one.endsWith('*'))
    .map((one) => {
      const key = findTextKey(`line.type.${one}`);
      return key ? t(key) : `“${one}”`;
    });
  const prefixes = types.flatMap((one) => (one.endsWith('*') ? `“${one.slice(0, -1)}”` : []));
  const or = t('ruleSays.or');
  const parts = [
    names.length > 0 && t('ruleSays.types', { types: listOf(names, or) }),
    prefixes.length > 0 && t('ruleSays.typePrefixes', { types: listOf(prefixes, or) }),
  ];
  return parts.filter(Boolean).join(` ${or} `);
}

function amountText({ minCents, maxCents }: RuleCondition, t: Translate): string | null {
  const [min, max] = [minCents, maxCents].map((cents) =>
    cents === undefined ? '' : formatAmount(cents),
  );
  const values = { min: min ?? '', max: max ?? '' };
  if (minCents === undefined)
    return maxCents === undefined ? null : t('ruleSays.amountUpTo', values);
  if (maxCents === undefined) return t('ruleSays.amountFrom', values);
  return t(minCents === maxCents ? 'ruleSays.amountExactly' : 'ruleSays.amountBetween', values);
}

function sameText({ by, netSettlement }: MatchAction, t: Translate): string {
  const shared = (['document', 'notes', 'amount'] as const)
    .filter((one) => by.includes(one))
    // Sales that are paid together have amounts of their own.
    .filter((one) => one !== 'amount' || !netSettlement);
  return listOf(
    shared.map((one) => t(`ruleSays.same.${one}`)),
    t('ruleSays.and'),
  );
}

function toleranceText(action: MatchAction, t: Translate): string | null {
  const { toleranceCents, toleranceBasisPoints, toleranceMaxCents } = action;
  if (toleranceCents === 0n && toleranceBasisPoints === 0n) return null;
  const [amount, percent] = [formatAmount(toleranceCents), formatPercent(toleranceBasisPoints)];
  const difference =
    toleranceBasisPoints === 0n
      ? t('ruleSays.toleratedAmount', { amount })
      : toleranceCents === 0n
        ? t('ruleSays.toleratedPercent', { percent })
        : t('ruleSays.toleratedLarger', { amount, percent });
  const isCapped = toleranceBasisPoints > 0n && toleranceMaxCents !== undefined;
  if (!isCapped) return difference;
  const cap = formatAmount(toleranceMaxCents ?? greatestTolerance.cents);
  return `${difference} ${t('ruleSays.toleratedMost', { amount: cap })}`;
}

function partsText({ combines, instalments, plan, netSettlement }: MatchAction, t: Translate) {
  if (combines) return t('ruleSays.combines');
  if (instalments) return t('ruleSays.instalments');
  if (plan) {
    const { count, intervalDays, toleranceDays: days } = plan;
    const every =
      intervalDays === null
        ? t('ruleSays.monthly')
        : t('ruleSays.everyDays', { days: intervalDays });
    return t('ruleSays.plan', { count, every, days });
  }
  if (!netSettlement) return null;
  const { groupBy, ...fee } = netSettlement;
  return `${t(`ruleSays.group.${groupBy}`)}${t('ruleSays.fee', {
    minPercent: formatPercent(fee.minFeeBasisPoints),
    maxPercent: formatPercent(fee.maxFeeBasisPoints),
    minAmount: formatAmount(fee.minFeeCentsPerSale),
    maxAmount: formatAmount(fee.maxFeeCentsPerSale),
  })}`;
}

/** `2,5 %` of 250 basis points. */
export function formatPercent(basisPoints: Cents): string {
  const decimals = (basisPoints % 100n).toString().padStart(2, '0').replace(/0+$/, '');
  return `${basisPoints / 100n}${decimals === '' ? '' : `,${decimals}`} %`;
}

function listOf(texts: readonly string[], conjunction: string): string {
  const [last, ...before] = [...texts].reverse();
  const rest = before.reverse().join(', ');
  return rest === '' ? (last ?? '') : `${rest} ${conjunction} ${last}`;
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
