import { describe, expect, it } from '@jest/globals';
import type { CustomerRequest } from '../../bank-contract/customers.js';
import { redactResponse } from './redaction.js';

const request = {
  password: '739102',
  securityPassword: '7391',
  tokenNotification: 'tok"en',
  email: { value: 'maria@example.com', codeVerification: 'abcd' },
  phone: { ddd: '11', number: '987654321', codeVerification: '12' },
} as CustomerRequest;
const redacted = (text: string) => redactResponse(request, text);

describe('the stored response of the bank', () => {
  it.each([
    [
      'in a sentence',
      '{"title":"password 739102 is too simple"}',
      '{"title":"password *** is too simple"}',
    ],
    ['in a list', '{"errors":{"$.x":["abcd","other"]}}', '{"errors":{"$.x":["***","other"]}}'],
    ['as a number', '{"echo":739102,"n":12.50}', '{"echo":"***","n":12.50}'],
    ['as a field name', '{"739102":1}', '{"***":1}'],
    ['escaped', '{"a":"7\\u00339102","b":"tok\\"en"}', '{"a":"***","b":"***"}'],
    [
      'under the name of a secret',
      '{"Password":"x","accessToken":{"a":1}}',
      '{"Password":"***","accessToken":"***"}',
    ],
  ])('holds no secret of the request %s', (_, text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it('is otherwise unchanged, also where it has a code too short to be a secret', () => {
    const text =
      '{"code":"customer_exists","ok":true,"none":null,"phone":"12","list":[1,{"a":"b"}]}';
    expect(redacted(text)).toBe(text);
  });
});
