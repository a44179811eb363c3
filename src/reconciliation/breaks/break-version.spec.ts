import { describe, expect, it } from '@jest/globals';
import { versionOfBreak, versionOfBreaks, type VersionedBreak } from './break-version.js';

const found: VersionedBreak = {
  id: '01900000-0000-7000-8000-000000000001',
  kind: 'underpaid',
  state: 'open',
  amountCents: 1_000n,
  nsu: 7n,
  expectedPaymentId: null,
  resolution: null,
  evidence: { owed: '20.00', paid: '10.00', candidates: [{ a: 1, b: 2 }] },
};

describe('the version of a break', () => {
  it('does not depend on the order of fields', () => {
    const evidence = { candidates: [{ b: 2, a: 1 }], paid: '10.00', owed: '20.00' };
    expect(versionOfBreak({ ...found, evidence })).toBe(versionOfBreak(found));
  });

  it.each<Partial<VersionedBreak>>([
    { kind: 'overpaid' },
    { state: 'resolved' },
    { amountCents: 1_001n },
    { amountCents: null },
    { nsu: null },
    { expectedPaymentId: found.id },
    { resolution: 'accept' },
    { evidence: { ...(found.evidence as object), paid: '10.01' } },
    { evidence: { ...(found.evidence as object), candidates: [{ a: 1, b: 3 }] } },
  ])('changes with %p', (change) => {
    expect(versionOfBreak({ ...found, ...change })).not.toBe(versionOfBreak(found));
  });

  it('of a list changes with its members and their order', () => {
    const versions = [versionOfBreaks(['a', 'b']), versionOfBreaks(['b', 'a'])];
    expect(new Set([...versions, versionOfBreaks(['a'])]).size).toBe(3);
  });
});
