// The form of a rule: what is typed becomes the request of the API, and a version becomes the form
// again without a loss.
import { describe, expect, it } from '@jest/globals';
import type { AppError } from '../../platform/errors.js';
import { toAction, toCondition } from '../../reconciliation/rules/rule-views.js';
import type { RuleTerms } from '../../reconciliation/rules/rule-catalog.service.js';
import { formOfLine, formOfTerms, readRuleForm, type RuleForm } from './rule-form.js';
import { requestOf, termsSoFar } from './rule-request.js';

const typed = (fields: readonly (readonly [string, string])[]) =>
  readRuleForm(
    new URLSearchParams([
      ['name', 'A rule'],
      ['priority', '10'],
      ['reason', 'because'],
      ...fields,
    ] as [string, string][]),
  );
const condition = (kind: string, value: string) =>
  [
    ['condition', kind],
    ['value', value],
  ] as const;
const fee = [
  ['action', 'classify'],
  ['category', 'fee'],
  ['categoryReason', 'of the bank'],
] as const;
const matching = [
  ['action', 'match'],
  ['by', 'document'],
  ['by', 'amount'],
] as const;

const wrongFieldsOf = (form: RuleForm): string[] => {
  try {
    requestOf(form);
  } catch (error) {
    return Object.keys((error as AppError).details.errors ?? {}).sort();
  }
  return [];
};

describe('the form of a rule', () => {
  it('becomes the request of the API', () => {
    const form = typed([
      ...condition('debit', ''),
      ...condition('type', 'DEBIT_X'),
      ...condition('typePrefix', 'FEE'),
      ...condition('amountFrom', '10'),
      ...condition('amountTo', '1.234,56'),
      ...condition('notesContain', 'tarifa'),
      ...condition('', ''),
      ...fee,
    ]);
    expect(requestOf(form)).toEqual({
      ...{ name: 'A rule', priority: 10, reason: 'because' },
      when: {
        isCredit: false,
        types: ['DEBIT_X', 'FEE*'],
        amount: { min: 1_000n, max: 123_456n },
        notes: { contains: 'tarifa' },
      },
      then: { classify: 'fee', reason: 'of the bank' },
    });
  });

  it.each([
    ['instalments', [['parts', 'instalments']], { instalments: true }],
    ['several payments', [['parts', 'combines']], { combines: true }],
    [
      'a plan',
      [
        ['parts', 'plan'],
        ['planCount', '3'],
        ['planToleranceDays', '2'],
      ],
      { instalments: { count: 3, monthly: true, toleranceDays: 2 } },
    ],
    [
      'a tolerance',
      [
        ['toleranceAmount', '0,50'],
        ['tolerancePercent', '2,5'],
      ],
      { tolerance: { amount: 50n, percent: 250n } },
    ],
    [
      'a net settlement',
      [
        ['by', 'window'],
        ['daysBefore', '1'],
        ['daysAfter', '2'],
        ['parts', 'netSettlement'],
        ['groupBy', 'day'],
        ['feePercentMax', '2,6'],
        ['toleranceAmount', '9'],
      ],
      { netSettlement: { groupBy: 'day', fee: { percent: { max: 260n } } } },
    ],
  ] as [string, [string, string][], object][])('declares %s', (_, fields, expected) => {
    const { then } = requestOf(typed([...matching, ...fields]));
    expect(then.match).toMatchObject(expected);
    // Fields of the other ways to match do not count.
    expect(Object.keys(then.match ?? {})).not.toContain(
      'tolerance' in expected ? 'netSettlement' : 'tolerance',
    );
  });

  it('shows each error at its own row', () => {
    const form = typed([
      ...condition('credit', ''),
      ...condition('document', '123'),
      ...condition('notesMatch', '('),
      ...condition('', 'orphan'),
      ...condition('debit', ''),
      ...condition('type', ''),
      ...fee,
    ]);
    expect(wrongFieldsOf(form)).toEqual(
      ['1', '2', '3', '4', '5'].map((index) => `condition.${index}`),
    );
  });

  it('shows the errors of the other fields at their names', () => {
    const form = typed([
      ['action', 'match'],
      ['by', 'amount'],
      ['parts', 'plan'],
      ['planCount', '99'],
      ['planInterval', 'x'],
    ]);
    form.fields.name = '';
    form.fields.priority = 'first';
    expect(wrongFieldsOf(form)).toEqual(
      expect.arrayContaining(['by', 'name', 'planCount', 'priority']),
    );
  });

  it('comes back from a version as it was declared', () => {
    const form = typed([
      ...condition('credit', ''),
      ...condition('type', 'CREDIT_PIX'),
      ...condition('amountFrom', '10,00'),
      ...condition('document', '11144477735'),
      ...condition('notesContain', 'pedido'),
      ...condition('notesMatch', '^pedido'),
      ...matching,
      ['by', 'window'],
      ['daysBefore', '5'],
      ['daysAfter', '10'],
      ['toleranceAmount', '0,50'],
      ['toleranceMax', '2,00'],
      ['parts', 'plan'],
      ['planCount', '3'],
      ['planInterval', '30'],
      ['planToleranceDays', '4'],
      ['codingCategory', 'Vendas'],
      ['project', 'Loja 2'],
    ]);
    expect(requestOf(form).then.coding).toEqual({ category: 'Vendas', project: 'Loja 2' });
    const { priority, when, then } = requestOf(form);
    const terms: RuleTerms = { priority, when: toCondition(when), then: toAction(then) };
    const again = formOfTerms(terms, 'A rule');
    again.fields.reason = 'because';
    expect(requestOf(again)).toEqual(requestOf(form));
  });

  it('is filled from a line with what distinguishes it', () => {
    const line = {
      isCredit: false,
      amountCents: 500n,
      typeName: 'DEBIT_TARIFF',
      counterparty: '60746948/1/123456',
      counterpartyDocument: null,
      notes: 'Tarifa\0 de cobrança',
    };
    expect(formOfLine(line).conditions).toEqual([
      { kind: 'debit', value: '' },
      { kind: 'type', value: 'DEBIT_TARIFF' },
      { kind: 'account', value: '60746948/1/123456' },
    ]);
    const known = { ...line, counterpartyDocument: '11144477735' };
    expect(formOfLine(known).conditions.at(-1)).toEqual({
      kind: 'document',
      value: '11144477735',
    });
    expect(formOfLine({ ...line, counterparty: null }).conditions.at(-1)).toEqual({
      kind: 'notesContain',
      value: 'Tarifa  de cobrança',
    });
  });

  it('is said as far as it is complete', () => {
    const form = typed([...condition('document', 'not yet'), ...fee]);
    expect(termsSoFar(form)).toMatchObject({ when: null, then: { classify: 'fee' } });
  });
});
