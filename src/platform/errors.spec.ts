import { describe, expect, it } from '@jest/globals';
import { AppError, invariant, unreachable, type FaultCode } from './errors.js';

describe('an AppError', () => {
  it.each<[FaultCode, number]>([
    ['validation_failed', 400],
    ['malformed_body', 400],
    ['unauthenticated', 401],
    ['not_found', 404],
    ['conflict', 409],
    ['body_too_large', 413],
    ['unsupported_media_type', 415],
    ['idempotency_key_reused', 422],
    ['rule_broken', 422],
    ['rate_limited', 429],
    ['bank_unreachable', 502],
    ['bank_refused', 502],
    ['not_ready', 503],
    ['bank_timeout', 504],
  ])('with code %s has status %i', (code, status) => {
    const fault = new AppError(code);
    expect([fault.status, fault.message]).toEqual([status, code]);
  });

  it('has its cause, and an internal message for the log that differs from the public one', () => {
    const cause = new Error('socket hang up');
    const fault = new AppError('bank_unreachable', {
      cause,
      internal: 'for the log',
      public: 'for the caller',
    });
    expect(fault).toMatchObject({ name: 'AppError', message: 'for the log', cause });
    expect(new AppError('conflict', { public: 'for the caller' }).message).toBe('for the caller');
  });
});

describe('a broken invariant', () => {
  it('throws', () => {
    expect(() => invariant(false, 'money is conserved')).toThrow(/Invariant broken: money is/);
    expect(() => unreachable('x' as never)).toThrow(/Invariant broken: unexpected x/);
    expect(() => invariant(1, 'holds')).not.toThrow();
  });
});
