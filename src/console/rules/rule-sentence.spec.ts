import { describe, expect, it } from '@jest/globals';
import type { RuleAction, RuleCondition } from '../../reconciliation/decide/rule.js';
import { translateInto } from '../texts.js';
import { differencesOf } from './rule-differences.js';
import { formatPercent, ruleSentence } from './rule-sentence.js';

const fee: RuleAction = { do: 'classify', classify: 'fee', reason: 'O banco cobrou.' };
const match: RuleAction = {
  ...{ do: 'match', by: ['document', 'amount'], window: null, combines: false },
  ...{ toleranceCents: 0n, toleranceBasisPoints: 0n, instalments: false },
};
const say = (
  when: RuleCondition,
  then: RuleAction,
  language: 'pt' | 'en' = 'pt',
  isVisible = true,
) =>
  ruleSentence({ when, then }, { t: translateInto(language), isVisible }).replaceAll('\u00a0', ' ');

describe('the sentence of a rule', () => {
  it('says conditions and outcome in Portuguese and in English', () => {
    const when = {
      isCredit: true,
      document: '12345678000195',
      minCents: 1_000n,
      maxCents: 2_000n,
      notes: 'tarifa',
    };
    expect(say(when, fee)).toBe(
      'Créditos do CPF/CNPJ 12.345.678/0001-95 entre R$ 10,00 e R$ 20,00 ' +
        'cuja observação contém “tarifa” são classificados como taxa: O banco cobrou.',
    );
    expect(say(when, fee, 'en')).toBe(
      'Credits of the tax id 12.345.678/0001-95 between R$ 10,00 and R$ 20,00 ' +
        'whose notes contain “tarifa” are classified as fee: O banco cobrou.',
    );
  });

  it('masks who pays for a reader who may not see it', () => {
    const when = {
      document: '11144477735',
      counterparty: { ispb: '60746948', branch: '1', number: '123456' },
    };
    const said = say(when, fee, 'pt', false);
    expect(said).not.toMatch(/11144477735|111\.444|123456/);
    expect(say(when, fee)).toMatch(/111\.444\.777-35.*123456/);
  });

  it.each<[Partial<typeof match>, RegExp]>([
    [{ window: { daysBefore: 5, daysAfter: 10 } }, /até 5 dias antes ou 10 dias depois/],
    [{ toleranceCents: 50n }, /diferença de até R\$ 0,50\.$/],
    [{ toleranceBasisPoints: 250n, toleranceMaxCents: 5_000n }, /2,5 % e nunca mais de R\$ 50,00/],
    [{ combines: true }, /vários pagamentos previstos por inteiro/],
    [{ instalments: true }, /em partes/],
    [{ plan: { count: 3, intervalDays: null, toleranceDays: 2 } }, /3 parcelas, uma por mês/],
    [{ plan: { count: 3, intervalDays: 15, toleranceDays: 2 } }, /3 parcelas, a cada 15 dias/],
    [
      {
        netSettlement: {
          groupBy: 'day',
          ...{ minFeeBasisPoints: 240n, maxFeeBasisPoints: 260n },
          ...{ minFeeCentsPerSale: 0n, maxFeeCentsPerSale: 10n },
        },
      },
      /vencem no mesmo dia, com taxa de 2,4 % a 2,6 % mais R\$ 0,00 a R\$ 0,10 por venda/,
    ],
  ])('says %p', (change, expected) => {
    expect(say({}, { ...match, ...change } as RuleAction)).toMatch(expected);
  });

  it('leaves markup of the author as text', () => {
    expect(say({ notes: '<script>' }, fee)).toContain('“<script>”');
  });

  it('finds what two versions differ in', () => {
    const before = { priority: 10, when: { minCents: 100n }, then: fee };
    const after = { priority: 20, when: { isCredit: true, minCents: 100n }, then: fee };
    const options = { t: translateInto('en'), isVisible: true };
    expect(differencesOf(before, after, options)).toEqual([
      { aspect: 'priority', was: '10', is: '20' },
      { aspect: 'direction', was: 'Lines', is: 'Credits' },
    ]);
    expect(differencesOf(after, after, options)).toEqual([]);
  });
});

it.each([
  [250n, '2,5 %'],
  [200n, '2 %'],
  [5n, '0,05 %'],
])('writes %p basis points as a percentage', (basisPoints, text) => {
  expect(formatPercent(basisPoints)).toBe(text);
});
