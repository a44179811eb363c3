// Each reason has words in Portuguese, with the parameters of the English message.
import { describe, expect, it } from '@jest/globals';
import { fieldError, fieldMessage, type FieldErrors } from '../bank-contract/field-errors.js';
import { chargeRequest } from '../bank-contract/charges.js';
import { decode } from '../platform/http/contract-route.js';
import { AppError, unlisted } from '../platform/errors.js';
import { parseJson } from '../platform/json/exact-json.js';
import { ruleDeclaration } from '../reconciliation/rules/rules.schema.js';
import { declarationBody } from '../statement/expected-payments/declared-payments.schema.js';
import { fieldErrorsIn, problemIn, problemKey } from './problems.js';
import { translateInto } from './texts.js';
import { otherFieldError } from './texts/field-errors.js';

function errorsOf(schema: Parameters<typeof decode>[0], json: string): FieldErrors {
  const errors: FieldErrors = {};
  expect(decode(schema, parseJson(json), errors)).toBeUndefined();
  return errors;
}

const rule = (when: string, then: string, priority = '1') =>
  `{"name": "n", "priority": ${priority}, "reason": "r", "when": ${when}, "then": ${then}}`;
const match = (fields: string) => `{"match": ${fields}}`;
const classified = '{"classify": "fee", "reason": "r"}';
const byBoth = '"by": ["document", "amount"]';
const net = '"netSettlement"';
const rules = [
  rule('{}', classified),
  rule('{"isCredit": true}', classified, '100001'),
  rule('{"isCredit": true}', classified, '"x"'),
  rule('{"isCredit": true}', '{"classify": "fee"}'),
  rule('{"types": ["*"]}', classified),
  rule('{"amount": {"min": 2, "max": 1}}', classified),
  rule('{"amount": {"min": 0}}', classified),
  rule('{"amount": {"min": 1.001}}', classified),
  rule('{"amount": {"min": 9999999999999}}', classified),
  rule('{"document": "123"}', classified),
  rule('{"notes": {"matches": "("}}', classified),
  rule('{"notes": {"matches": "(a{1000}){1000}"}}', classified),
  rule('{"notes": {"contains": " "}}', classified),
  rule(`{"notes": {"contains": "${'x'.repeat(101)}"}}`, classified),
  rule('{}', match('{"by": ["amount"]}')),
  rule('{}', match('{"by": ["document"]}')),
  rule('{}', match('{"by": ["document", "window"]}')),
  rule('{}', match(`{${byBoth}, "tolerance": {"percent": 11}}`)),
  rule('{}', match(`{${byBoth}, "tolerance": {"amount": 1001}}`)),
  rule('{}', match(`{${byBoth}, "tolerance": {"amount": 2, "max": 1}}`)),
  rule('{}', match('{"by": ["notes", "amount"], "combines": true}')),
  rule('{}', match(`{${byBoth}, ${net}: {"groupBy": "day", "fee": {}}}`)),
  rule('{}', match(`{${byBoth}, ${net}: {"groupBy": "day", "fee": {"percent": {"max": 2}}}}`)),
  rule('{}', match(`{${byBoth}, ${net}: {"groupBy": "notes", "fee": {"percent": {"max": 30}}}}`)),
  rule(
    '{}',
    match(`{"by": ["document", "amount", "window"], "window": {"daysBefore": 30, "daysAfter": 30},
      ${net}: {"groupBy": "day", "fee": {"percent": {"max": 2}}}}`),
  ),
].map((json) => [json, ruleDeclaration] as const);

const payment = (fields: string) =>
  `{"externalId": "e", "direction": "credit", "dateFrom": "2026-06-01", ${fields}}`;
const payments = [
  payment('"amount": 0'),
  payment('"category": "none"'),
  payment('"amount": 1, "amountFrom": 1, "amountTo": 2'),
  payment('"amountFrom": 1'),
  payment('"amountFrom": 2, "amountTo": 1, "text": "x"'),
  payment('"amountFrom": 1, "amountTo": 2'),
  payment('"amount": 1, "tolerance": 1'),
  payment('"amount": 1, "tolerance": -1'),
  payment('"amount": 1, "dateTo": "2026-05-01"'),
  payment('"amount": 1, "dateTo": "2028-05-01"'),
  payment('"amount": 1, "dateTo": "2026-02-30"'),
  payment('"amount": 1, "text": "("'),
  payment('"amount": 1, "text": "x*"'),
  payment('"amount": 1, "counterparty": {"taxId": "1"}'),
  payment('"amount": 1, "metadata": {"a b": "x"}'),
  payment(`"amount": 1, "references": ${JSON.stringify(Array(21).fill(1))}`),
  '{"externalId": "é", "direction": "credit", "dateFrom": "2026-06-01", "amount": 1}',
  '{"externalId": "e", "direction": "both", "dateFrom": 1}',
].map((json) => [json, declarationBody] as const);
const charges = ['{"type": "BOLETO", "payer": 1}', '{"Amount": "1", "payer": {"name": 1}}'].map(
  (json) => [json, chargeRequest] as const,
);

describe('an error of a field', () => {
  it.each([...rules, ...payments, ...charges])('of %s has its own words', (json, schema) => {
    const errors = errorsOf(schema, json);
    const said = fieldErrorsIn('pt', errors);
    expect(said.filter((text) => text.includes(otherFieldError) || /[{}]/.test(text))).toEqual([]);
    expect(said.join()).not.toMatch(/\b(?:Must|must|Is|field)\b/);
  });

  it('has the parameters of what the schema requires', () => {
    const error = fieldError('between', { least: 0, most: 100_000 });
    expect(fieldMessage(error)).toBe('Must be from 0 to 100000.');
    expect(errorsOf(ruleDeclaration, rule('{"isCredit": true}', classified, '100001'))).toEqual({
      '$.priority': [error],
    });
    expect(errorsOf(chargeRequest, '{"type": "BOLETO"}')).toMatchObject({
      '$.type': [fieldError('one_of', { values: 'BANKSLIP, BANKSLIP_PIX' })],
      '$.payer': [fieldError('required')],
    });
  });

  it('stands behind the name of its field', () => {
    const errors = { '$.payer.document': [fieldError('tax_id')], $: [fieldError('number')] };
    expect(fieldErrorsIn('pt', errors)).toEqual([
      'CPF/CNPJ do pagador: Precisa ser um CPF/CNPJ válido.',
      'Precisa ser um número.',
    ]);
  });

  it('stands behind the words of people where they have some', () => {
    const errors = { '$.dueDate': [fieldError('required')], '$.Amount': [fieldError('required')] };
    const names = (language: 'pt' | 'en') =>
      fieldErrorsIn(language, errors).map((text) => text.split(':')[0]);
    expect(names('pt')).toEqual(['Vencimento', 'Valor']);
    expect(names('en')).toEqual(['Due date', 'Amount']);
  });

  it('without a reason is shown in general words, and in English as the API says it', () => {
    const errors = { '$.url': ['Must be a URL.'] };
    expect(fieldErrorsIn('pt', errors)).toEqual([`url: ${otherFieldError}`]);
    expect(fieldErrorsIn('en', errors)).toEqual(['url: Must be a URL.']);
  });
});

describe('a refusal', () => {
  const visit = { t: translateInto('pt'), language: 'pt' } as const;

  it('has the words of its reason, otherwise of its status, and never its own message', () => {
    const known = new AppError('conflict', { reason: 'endpoint_limit', public: 'Too many.' });
    expect(problemKey(known)).toBe('problem.endpoint_limit');
    const other = new AppError('conflict', {
      reason: unlisted('some_reason'),
      public: 'Must not be so.',
    });
    expect(problemIn(visit, other)).toBe(visit.t('error.409'));
    expect(problemKey(other, 'exports.problem')).toBe('error.409');
  });

  it('that is no refusal is thrown again', () => {
    const fault = new Error('bug');
    expect(() => problemIn(visit, fault)).toThrow(fault);
  });
});
