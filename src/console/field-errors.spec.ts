// Each error that the forms of rules and of declared payments can get has its own words.
import { describe, expect, it } from '@jest/globals';
import { declarationBody } from '../statement/expected-payments/declared-payments.schema.js';
import { parseJson } from '../platform/json/exact-json.js';
import { decode, type Issues } from '../platform/http/contract-route.js';
import { ruleDeclaration } from '../reconciliation/rules/rules.schema.js';
import { fieldErrorText } from './field-errors.js';
import { translateInto } from './texts.js';

const inWords = (message: string) => fieldErrorText(translateInto('en'), message);
const unknown = translateInto('en')('fieldError.other');

const rule = (when: string, then: string, priority = '1') =>
  `{"name": "n", "priority": ${priority}, "reason": "r", "when": ${when}, "then": ${then}}`;
const match = (fields: string) => `{"match": ${fields}}`;
const classified = '{"classify": "fee", "reason": "r"}';
const byBoth = '"by": ["document", "amount"]';

describe('an error of a field', () => {
  it.each([
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
    rule('{}', match(`{${byBoth}, "instalments": {"count": 1, "monthly": true}}`)),
    rule(
      '{}',
      match(`{${byBoth}, "instalments": {"count": 2, "intervalDays": 3,
      "toleranceDays": 5}}`),
    ),
    rule('{}', match(`{${byBoth}, "netSettlement": {"groupBy": "day", "fee": {}}}`)),
    rule(
      '{}',
      match(`{${byBoth}, "netSettlement": {"groupBy": "day",
      "fee": {"percent": {"max": 2}}}}`),
    ),
    rule(
      '{}',
      match(`{${byBoth}, "netSettlement": {"groupBy": "notes",
      "fee": {"percent": {"max": 30}}}}`),
    ),
    rule(
      '{}',
      match(`{"by": ["document", "amount", "window"],
      "window": {"daysBefore": 30, "daysAfter": 30},
      "netSettlement": {"groupBy": "day", "fee": {"percent": {"max": 2}}}}`),
    ),
  ])('of the rule %s is said in words', (json) => {
    const issues: Issues = {};
    expect(decode(ruleDeclaration, parseJson(json), issues)).toBeUndefined();
    const said = Object.values(issues).map(([message = '']) => [message, inWords(message)]);
    expect(said.filter(([, words]) => words === unknown)).toEqual([]);
  });

  const payment = (fields: string) =>
    `{"externalId": "e", "direction": "credit", "dateFrom": "2026-06-01", ${fields}}`;
  it.each([
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
    '{"externalId": "é", "direction": "credit", "dateFrom": "2026-06-01", "amount": 1}',
  ])('of the payment %s is said in words', (json) => {
    const issues: Issues = {};
    expect(decode(declarationBody, parseJson(json), issues)).toBeUndefined();
    const said = Object.values(issues).map(([message = '']) => [message, inWords(message)]);
    expect(said.filter(([, words]) => words === unknown)).toEqual([]);
  });

  it('has the bounds that it names', () => {
    expect(inWords('Must be from 0 to 100000.')).toBe('It must be from 0 to 100000.');
    expect(inWords('Must be more than 0 and at most 10.')).toBe(
      'It must be more than 0 and at most 10.',
    );
  });

  it('is not shown as the schema wrote it where it is unknown', () => {
    expect(inWords('Must have a wxyz.')).toBe(unknown);
  });
});
