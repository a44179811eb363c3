import { describe, expect, it } from '@jest/globals';
import { ClassificationCategory } from '../../generated/service/enums.js';
import { explainingBreakKinds } from '../../reconciliation/decide/break-kinds.js';
import { criteria } from '../../reconciliation/decide/rule.js';
import { referenceKinds } from '../../statement/expected-payments/references.js';
import { findTextKey, translateInto } from '../texts.js';
import { formatTime } from '../formats.js';
import type { Language } from '../texts/languages.js';
import { explainLine, type ExplainedLine } from './explanation.js';
import type { LineClassification, LineMatch } from './explanations.queries.js';

const nothing: ExplainedLine = {
  ...{ state: 'pending', breakKind: null, matches: [], classification: null, notice: null },
};
const match: LineMatch = {
  ...{ nsu: 7n, expectedPaymentId: 'p', amountCents: 12_345n, role: 'payment', rule: 'reference' },
  ...{ ruleId: null, ruleVersion: null, ruleName: null, madeBy: null, reason: null },
  ...{ createdAt: new Date(0), kind: 'create_charge', operationId: 'o', transferId: null },
  label: 'order-1',
  evidence: { referenceKind: 'end_to_end_id', referenceValue: 'E1' },
};
const classification: LineClassification = {
  ...{ nsu: 7n, category: 'fee', rule: 'declared', reason: 'Monthly fee', createdAt: new Date(0) },
  ...{ ruleId: 'r', ruleVersion: 2, ruleName: 'Bank fees', evidence: {} },
};
const explain = (line: Partial<ExplainedLine>, language: Language = 'en') =>
  explainLine(
    { ...nothing, ...line },
    {
      t: translateInto(language),
      time: (at) => formatTime(at ?? null, language),
    },
  ).map((sentence) => sentence.replaceAll('\u00a0', ' '));
const explainMatch = (changes: Partial<LineMatch>) =>
  explain({ matches: [{ ...match, ...changes }] })[0];

describe('the explanation of a line', () => {
  it('names the record, the amount and the shared reference', () => {
    expect(explain({ matches: [match] })).toEqual([
      'Settles charge order-1 (R$ 123,45): same endToEndId E1.',
    ]);
    expect(explain({ matches: [match] }, 'pt')).toEqual([
      'Liquida a cobrança order-1 (R$ 123,45): mesmo id do Pix E1.',
    ]);
  });

  it('does not repeat the id that names the record', () => {
    const evidence = { referenceKind: 'correlation_id', referenceValue: 'order-1' };
    expect(explainMatch({ evidence })).toBe(
      'Settles charge order-1 (R$ 123,45): same correlationId.',
    );
  });

  it.each<[string, Partial<LineMatch>, string]>([
    [
      'a reversal',
      { role: 'reversal', rule: 'reversal', evidence: {} },
      'reports it as a reversal',
    ],
    ['an original Pix', { rule: 'original' }, 'it refunds the same Pix E1'],
    ['a counterparty', { rule: 'counterparty' }, 'same counterparty and same amount'],
    ['a person', { rule: 'manual', reason: 'by phone' }, 'linked manually. Reason: by phone'],
    [
      'a rule',
      {
        ...{ rule: 'declared', ruleName: 'Rent', ruleVersion: 3 },
        evidence: { referenceKind: 'rule', by: ['document', 'amount'] },
      },
      'by the rule “Rent”, version 3 (CPF/CNPJ, amount)',
    ],
    [
      'declared conditions',
      { rule: 'declared', kind: 'declared', evidence: { by: ['amount', 'window', 'text'] } },
      'it meets the declared conditions (amount, date, text)',
    ],
    ['a rule of a later version', { rule: 'tarot' }, ': tarot'],
  ])('says that it was by %s', (_, changes, sentence) => {
    expect(explainMatch(changes)).toContain(sentence);
  });

  it('names three payments of a line, and says that there are more', () => {
    const sentences = explain({ matches: [match, match, match, match] });
    expect(sentences).toHaveLength(4);
    expect(sentences.at(-1)).toBe('The line pays other records too.');
  });

  it('names the rule that classified it, with its reason', () => {
    expect(explain({ state: 'classified', classification })).toEqual([
      'Fee of the bank. Classified by the rule “Bank fees”, version 2. Reason: Monthly fee',
    ]);
  });

  it('leaves the classification out where the line is matched', () => {
    expect(explain({ matches: [match], classification })).toHaveLength(1);
  });

  it('begins with the break, also of a line that is matched', () => {
    const [first, second] = explain({ breakKind: 'overpaid', matches: [match] });
    expect(first).toBe('Break: it pays more than was owed.');
    expect(second).toContain('order-1');
  });

  it('says when a webhook reported it, in São Paulo', () => {
    const receivedAt = new Date('2026-03-12T13:02:11Z');
    const notice = { nsu: 7n, receivedAt, referenceKind: 'end_to_end_id' };
    expect(explain({ notice }).at(-1)).toBe(
      'Reported by a webhook (endToEndId) at 12/03/2026, 10:02:11.',
    );
  });

  it('says that an undecided line waits', () => {
    expect(explain({})[0]).toContain('Not decided yet');
  });

  it('has words for each kind of break, category, reference and criterion', () => {
    const keys = [
      ...explainingBreakKinds.map((kind) => `line.why.break.${kind}`),
      ...Object.values(ClassificationCategory).map((category) => `line.why.${category}`),
      ...referenceKinds.flatMap((kind) => [`line.same.${kind}`, `line.reference.kind.${kind}`]),
      ...[...criteria, 'taxId', 'text', 'condition'].map((one) => `line.criterion.${one}`),
    ];
    expect(keys.filter((key) => !findTextKey(key))).toEqual([]);
  });
});
