import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isStaticTxid, txidOfCorrelationId } from './static-txid.js';

const GUID = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('static txid', () => {
  it.each(['a', 'Z9', 'A'.repeat(25)])('may be %s', (text) => {
    expect(isStaticTxid(text)).toBe(true);
  });

  it.each(['', '***', 'A'.repeat(26), 'A-1', 'A_1', 'A 1', 'é', GUID, GUID.replaceAll('-', '')])(
    'is not %j',
    (text) => {
      expect(isStaticTxid(text)).toBe(false);
    },
  );

  it('is the same for a GUID on every machine and in every version', () => {
    expect(txidOfCorrelationId(GUID)).toBe('VH3IF5E3VIPBU5O7MC2VM3QS4');
  });

  it('is valid for every correlationId, and different for different ones', () => {
    const anyText = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
      .map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        expect(isStaticTxid(txidOfCorrelationId(one))).toBe(true);
        expect(txidOfCorrelationId(one)).toHaveLength(25);
        expect(txidOfCorrelationId(one) === txidOfCorrelationId(other)).toBe(one === other);
      }),
    );
    // In UTF-8 these two would have the same bytes.
    expect(txidOfCorrelationId('\ud800')).not.toBe(txidOfCorrelationId('\udbff'));
  });

  it('differs for correlationIds that differ by case', () => {
    expect(txidOfCorrelationId(GUID.toUpperCase())).not.toBe(txidOfCorrelationId(GUID));
  });
});
