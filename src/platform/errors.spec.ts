import { describe, expect, it } from '@jest/globals';
import { AppError, invariant, unreachable, type FaultCode } from './errors.js';

describe('a fault', () => {
  it.each<[FaultCode, number]>([
    ['validation_failed', 400],
    ['malformed_body', 400],
    ['unauthenticated', 401],
    ['not_found', 404],
    ['conflict', 409],
    ['unsupported_media_type', 415],
    ['idempotency_key_reused', 422],
    ['rule_broken', 422],
    ['rate_limited', 429],
    ['bank_unreachable', 502],
    ['bank_refused', 502],
    ['not_ready', 503],
    ['bank_timeout', 504],
  ])('%s is answered with %i', (code, status) => {
    const fault = new AppError(code);
    expect([fault.status, fault.message]).toEqual([status, code]);
  });

  it('keeps its cause, and tells the log what it does not tell the caller', () => {
    const cause = new Error('socket hang up');
    const fault = new AppError('bank_unreachable', {
      cause,
      internal: 'for us',
      public: 'for them',
    });
    expect(fault).toMatchObject({ name: 'AppError', message: 'for us', cause });
    expect(new AppError('conflict', { public: 'for them' }).message).toBe('for them');
  });
});

describe('a bug', () => {
  it('is loud', () => {
    expect(() => invariant(false, 'money is conserved')).toThrow(/Invariant broken: money is/);
    expect(() => unreachable('x' as never)).toThrow(/Invariant broken: unexpected x/);
    expect(() => invariant(1, 'holds')).not.toThrow();
  });
});
