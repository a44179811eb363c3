import fc from 'fast-check';
import { bankCallOf, appliesToCall } from './bank-call.js';
import {
  endpointsOfKind,
  seededFraction,
  doesFire,
  type Fault,
  type FaultEndpoint,
  type FaultKind,
} from './fault.js';

const fault = (changes: Partial<Fault> = {}): Fault => ({
  id: 'f',
  endpoint: 'charges',
  kind: 'error-after-effect',
  times: null,
  probability: null,
  seed: 1,
  delayMs: null,
  chances: 0,
  fired: 0,
  ...changes,
});

/** Whether the fault fires on each of `chances` consecutive chances. */
const pattern = (changes: Partial<Fault>, chances: number) =>
  Array.from({ length: chances }, (_, chance) => doesFire(fault({ ...changes, chances: chance })));

describe('doesFire', () => {
  it('fires every time without a count and without a probability', () => {
    expect(pattern({}, 5)).toEqual(Array(5).fill(true));
  });

  it('does not fire beyond its count', () => {
    expect(doesFire(fault({ times: 2, fired: 1, chances: 7 }))).toBe(true);
    expect(doesFire(fault({ times: 2, fired: 2, chances: 7 }))).toBe(false);
  });

  it('fires at about its probability over a thousand chances, for any seed', () => {
    for (const probability of [0.05, 0.3, 0.5, 0.9])
      for (const seed of [1, 2, 77, -5]) {
        const share = pattern({ probability, seed }, 1_000).filter(Boolean).length / 1_000;
        expect(Math.abs(share - probability)).toBeLessThan(0.05);
      }
  });

  it('never fires with probability 0 and always fires with probability 1', () => {
    expect(pattern({ probability: 0 }, 1_000)).not.toContain(true);
    expect(pattern({ probability: 1 }, 1_000)).not.toContain(false);
  });

  it('fires on the same chances for the same seed, and on others for another seed', () => {
    const drawn = { probability: 0.5, seed: 42 };
    expect(pattern(drawn, 200)).toEqual(pattern(drawn, 200));
    expect(pattern(drawn, 200)).not.toEqual(pattern({ ...drawn, seed: 43 }, 200));
  });

  it('draws numbers of at least 0 and below 1', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(), (seed, n) => {
        const number = seededFraction(seed, n);
        expect(number).toBeGreaterThanOrEqual(0);
        expect(number).toBeLessThan(1);
      }),
    );
  });
});

describe('appliesToCall', () => {
  const applies = (
    [endpoint, kind, method]: readonly [FaultEndpoint, FaultKind, ('GET' | 'POST')?],
    on: readonly [FaultEndpoint | null, 'GET' | 'POST' | 'PUT'],
  ) =>
    appliesToCall(
      { endpoint, kind, ...(method ? { method } : {}) },
      { endpoint: on[0], method: on[1] },
    );

  it.each([
    [['charges', 'garbage'], ['charges', 'POST'], true],
    [['charges', 'garbage'], ['charges', 'GET'], false],
    [['charges', 'garbage', 'GET'], ['charges', 'GET'], true],
    [['charges', 'garbage', 'GET'], ['charges', 'POST'], false],
    [['charges', 'garbage'], ['qrcode', 'POST'], false],
    [['transfers', 'error-before-effect'], ['transfers', 'GET'], false],
    [['bill-payments', 'hang-after-effect'], ['bill-payments', 'GET'], false],
    [['webhooks', 'empty'], ['webhooks', 'GET'], false],
    [['refunds', 'empty'], ['refunds', 'PUT'], true],
    [['lookup', 'error-after-effect'], ['lookup', 'POST'], true],
    [['transactions', 'error-after-effect'], ['transactions', 'GET'], true],
    [['transactions', 'truncated'], ['transactions', 'GET'], true],
    [['*', 'error-before-effect'], ['charges', 'GET'], true],
    [['*', 'truncated'], ['bill-payments', 'GET'], true],
    [['*', 'reset-after-effect'], ['charges', 'GET'], false],
    [['*', 'reset-after-effect', 'GET'], ['charges', 'GET'], true],
    [['*', 'reset-after-effect'], ['lookup', 'POST'], true],
    [['*', 'hang-after-effect'], ['transactions', 'GET'], true],
    [['*', 'slow'], [null, 'GET'], true],
    [['*', 'error-after-effect'], [null, 'POST'], true],
    [['*', 'error-after-effect'], [null, 'GET'], false],
  ] as const)('%j on %j applies: %p', (set, on, isExpected) => {
    expect(applies(set, on)).toBe(isExpected);
  });

  it('excludes the tools of tests', () => {
    const post = { method: 'POST' } as const;
    const callOf = (name: string, path: string) => bankCallOf({ name, path, ...post } as never);
    expect(callOf('payCharge', '/baas/v1/charges/{correlationId}/pay')).toBeNull();
    expect(callOf('sandboxAddFault', '/sandbox/faults')).toBeNull();
    expect(bankCallOf(undefined)).toBeNull();
    expect(callOf('createCharge', '/baas/v1/charges')).toEqual({ endpoint: 'charges', ...post });
    expect(callOf('createCustomer', '/v1/customers')).toEqual({ endpoint: null, ...post });
  });

  it('lists the endpoints at which each kind can fire', () => {
    expect(endpointsOfKind('garbage')).toBeNull();
    expect(endpointsOfKind('page-shift')).toEqual(['transactions']);
    expect(endpointsOfKind('webhook-forged')).toContain('charges');
    expect(endpointsOfKind('webhook-forged')).not.toContain('lookup');
  });
});
