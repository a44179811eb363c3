import { describe, expect, it } from '@jest/globals';
import { refusal } from './refusal.js';

const read = (status: number, body: unknown) => refusal({ status, text: JSON.stringify(body) });

describe('a refusal of the bank', () => {
  it.each([
    [400, 'validation_failed'],
    [404, 'not_found'],
    [409, 'conflict'],
    [422, 'rule_broken'],
    [418, 'rule_broken'],
  ])('of %i is handed on as %s', (status, code) => expect(read(status, {})).toEqual([code, {}]));

  it('keeps its title, its reason and its messages by path', () => {
    const body = { title: 'Paid already.', code: 'charge_already_paid', errors: { '$.a': ['x'] } };
    const details = { public: body.title, reason: body.code, errors: body.errors };
    expect(read(409, body)).toEqual(['conflict', details]);
  });

  it.each([
    [['Não foi encontrado.', 7], { $: ['Não foi encontrado.'] }],
    [{ '$.a': 'x', '$.b': [1] }, { '$.a': ['x'] }],
    [{ '$.b': [] }, undefined],
    ['text', undefined],
    [null, undefined],
  ])('reads errors written as %j', (errors, told) =>
    expect(read(422, { errors })[1].errors).toEqual(told),
  );

  it.each([[[]], [null], ['text'], [{ title: 5, code: {} }]])('is no fault of ours as %j', (body) =>
    expect(read(422, body)).toEqual(['rule_broken', {}]),
  );
});
