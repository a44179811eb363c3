import { describe, expect, it } from '@jest/globals';
import { keyOfAction, linkedBy, openActions, type ActionableBreak } from './open-actions.js';

const ofLine: ActionableBreak = {
  kind: 'unexpected',
  state: 'open',
  subject: 'nsu:7',
  resolution: null,
  nsu: 7n,
  expectedPaymentId: null,
  operationId: null,
};
const id = '01900000-0000-7000-8000-000000000001';

describe('the actions on a break', () => {
  it('have keys of their own', () => {
    const keys = Object.values(keyOfAction);
    expect(new Set(keys).size).toBe(keys.length);
    // They move through lists, and choose a row.
    expect(keys.filter((key) => 'jkxnf123456789?'.includes(key))).toEqual([]);
  });

  it.each<[string, Partial<ActionableBreak>, string[]]>([
    ['an unexpected line', {}, ['link', 'refund', 'accept', 'note']],
    [
      'a missing payment',
      {
        kind: 'missing',
        nsu: null,
        expectedPaymentId: id,
        subject: `expected_payment:${id}`,
      },
      ['link', 'accept', 'note'],
    ],
    [
      'an operation with an unknown outcome',
      { kind: 'unknown_outcome', nsu: null, operationId: id, subject: `operation:${id}` },
      ['resend', 'accept', 'note'],
    ],
    [
      'a gap of the balance chain',
      { kind: 'broken_balance_chain', subject: 'gap:7' },
      ['accept', 'note'],
    ],
    ['what a person resolved', { state: 'resolved', resolution: 'accept' }, ['reopen', 'note']],
    ['what resolved itself', { state: 'resolved', resolution: 'automatic' }, ['note']],
  ])('of %s', (_, fields, expected) => {
    expect(openActions({ ...ofLine, ...fields }, true)).toEqual(expected);
  });

  it('refund nothing for a person who may request no payments', () => {
    expect(openActions(ofLine, false)).not.toContain('refund');
  });

  it('link the side that the break lacks', () => {
    expect(linkedBy(ofLine)).toBe('expectedPaymentId');
    const missing = { ...ofLine, nsu: null, expectedPaymentId: id };
    expect(linkedBy({ ...missing, subject: `expected_payment:${id}` })).toBe('nsu');
    expect(linkedBy({ ...ofLine, subject: 'gap:7' })).toBeNull();
  });
});
