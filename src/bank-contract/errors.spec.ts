import { describe, expect, it } from '@jest/globals';
import { buildErrorBody, validationTitle } from './errors.js';

const rfc = 'https://tools.ietf.org/html/rfc7231#section-';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the error body', () => {
  it.each([
    [400, '6.5.1', 'Bad Request'],
    [401, '6.5', 'Unauthorized'],
    [403, '6.5.3', 'Forbidden'],
    [404, '6.5.4', 'Not Found'],
    [409, '6.5.8', 'Conflict'],
    [413, '6.5.11', 'Payload Too Large'],
    [415, '6.5.13', 'Unsupported Media Type'],
    [422, '6.5', 'Unprocessable Entity'],
    [429, '6.5', 'Too Many Requests'],
    [500, '6.6.1', 'Internal Server Error'],
    [502, '6.6.3', 'Bad Gateway'],
    [503, '6.6.4', 'Service Unavailable'],
    [504, '6.6.5', 'Gateway Timeout'],
    [418, '6.5', 'Error'],
    [599, '6.6', 'Error'],
  ])('of status %i has the RFC section and title of the status', (status, section, title) => {
    expect(buildErrorBody(status, traceId)).toEqual({
      type: rfc + section,
      title,
      status,
      traceId,
    });
  });

  it('of a validation error has the title of the contract and the JSON paths', () => {
    const errors = { '$.Amount': ['Must be greater than zero.'] };
    expect(buildErrorBody(400, traceId, { errors })).toEqual({
      type: `${rfc}6.5.1`,
      title: validationTitle,
      status: 400,
      traceId,
      errors,
    });
    expect(validationTitle).toBe('One or more validation errors occurred.');
  });

  it('has the given title, code and errors', () => {
    const body = buildErrorBody(422, traceId, {
      title: 'Too late.',
      code: 'rule_broken',
      errors: {},
    });
    expect(body).toMatchObject({ title: 'Too late.', code: 'rule_broken', errors: {} });
  });

  it('lists 100 messages, and says how many more there are', () => {
    const paths = Array.from({ length: 250 }, (_, at) => `$[${at}]`);
    const errors = Object.fromEntries(paths.map((path) => [path, ['a', 'b']]));
    const listed = buildErrorBody(400, traceId, { errors }).errors ?? {};
    expect(Object.keys(listed)).toEqual([...paths.slice(0, 50), '$']);
    expect(listed.$).toEqual(['400 more problems are not listed.']);
    const few = Object.fromEntries(paths.slice(0, 100).map((path) => [path, ['a']]));
    expect(buildErrorBody(400, traceId, { errors: few }).errors).toEqual(few);
  });
});
