import { expect, it } from '@jest/globals';
import { codingOf, codingTexts, type CodingFacts, type MatchedPart } from './line-coding.js';

const part = (changes: Partial<MatchedPart>): MatchedPart => ({
  ...{ amountCents: 100n, role: 'payment', paymentKind: 'declared', feeCents: 0n },
  ...{ withheld: [] },
  ...{ rule: null, payment: null, ...changes },
});
const line = (changes: Partial<CodingFacts>): CodingFacts => ({
  ...{ nsu: 1n, classification: null, rule: null, manual: null, parts: [], ...changes },
});

it('decides each field alone: a person above the rule, the rule above the payment', () => {
  const paid = part({
    rule: { costCentre: 'Loja 2', category: null },
    payment: { category: 'Vendas', costCentre: 'Loja 1', project: 'Site' },
  });
  const facts = line({ manual: { project: 'App' }, parts: [paid] });
  expect(codingOf(facts, paid)).toEqual({
    ...{ category: 'Vendas', costCentre: 'Loja 2', project: 'App' },
  });
});

it('says the rule of a classified line, and its classification where nothing has a category', () => {
  const facts = line({ classification: 'fee', rule: { costCentre: 'Matriz' } });
  expect(codingTexts(facts)).toEqual({ category: 'fee', costCentre: 'Matriz', project: null });
});

it('says what each part of a line has, once', () => {
  const parts = ['B', 'A', 'B'].map((category) => part({ payment: { category } }));
  expect(codingTexts(line({ parts })).category).toBe('A B');
});
