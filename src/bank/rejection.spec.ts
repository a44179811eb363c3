import { describe, expect, it } from '@jest/globals';
import { faultOfRejection } from './rejection.js';

const faultOf = (status: number, body: unknown) =>
  faultOfRejection({ status, text: JSON.stringify(body) });

describe('a rejection of the bank', () => {
  it.each([
    [400, 'validation_failed'],
    [404, 'not_found'],
    [409, 'conflict'],
    [422, 'rule_broken'],
    [418, 'rule_broken'],
  ])('with %i becomes the fault %s', (status, code) =>
    expect(faultOf(status, {})).toEqual([code, {}]),
  );

  it('preserves its title, its code and its messages by path', () => {
    const body = { title: 'Paid already.', code: 'charge_already_paid', errors: { '$.a': ['x'] } };
    const details = { public: body.title, reason: body.code, errors: body.errors };
    expect(faultOf(409, body)).toEqual(['conflict', details]);
  });

  it.each([
    [['Não foi encontrado.', 7], { $: ['Não foi encontrado.'] }],
    [{ '$.a': 'x', '$.b': [1] }, { '$.a': ['x'] }],
    [{ '$.b': [] }, undefined],
    ['text', undefined],
    [null, undefined],
  ])('reads errors written as %j', (errors, messages) =>
    expect(faultOf(422, { errors })[1].errors).toEqual(messages),
  );

  it.each([[[]], [null], ['text'], [{ title: 5, code: {} }]])(
    'is read without an exception from %j',
    (body) => expect(faultOf(422, body)).toEqual(['rule_broken', {}]),
  );
});
