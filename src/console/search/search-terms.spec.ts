import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBillCode } from '../../brazil/bill-code.js';
import { anyText } from '../../../test/support/any-text.js';
import {
  isPersonal,
  readSearchTerms,
  termsIn,
  withoutPersonalTerms,
  type SearchTerms,
} from './search-terms.js';

const id = '01981f0a-7d3c-7c1e-9a55-0a6a2f2f8a11';

/** The terms that were found, without the text itself. */
function found(typed: string): Partial<SearchTerms> {
  const { text: _, beginning: __, ...terms } = readSearchTerms(typed);
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== null));
}

describe('a text that is searched for', () => {
  it.each([
    [id, { uuid: id, identifier: id, pixKey: id }],
    ['1000', { identifier: '1000', nsu: 1_000n, amountCents: 100_000n }],
    ['1.234,56', { identifier: '1.234,56', amountCents: 123_456n }],
    ['R$ 10', { identifier: 'R$ 10', amountCents: 1_000n }],
    ['r$10,5', { identifier: 'r$10,5', amountCents: 1_050n }],
    ['10.50', { identifier: '10.50', amountCents: 1_050n }],
    ['1,234.56', { identifier: '1,234.56', amountCents: 123_456n }],
    ['-1.234,56', { identifier: '-1.234,56', amountCents: 123_456n }],
    ['10.5000', { identifier: '10.5000' }],
    ['1.23.4', { identifier: '1.23.4' }],
    ['123.456.789-09', { identifier: '123.456.789-09', taxId: '12345678909' }],
    [
      '12345678909',
      {
        identifier: '12345678909',
        nsu: 12_345_678_909n,
        taxId: '12345678909',
      },
    ],
    ['11.222.333/0001-81', { identifier: '11.222.333/0001-81', taxId: '11222333000181' }],
    ['Ana@Example.com', { identifier: 'Ana@Example.com', pixKey: 'ana@example.com' }],
    ['(11) 99999-0000', { identifier: '(11) 99999-0000', pixKey: '+5511999990000' }],
    ['+5511999990000', { identifier: '+5511999990000', pixKey: '+5511999990000' }],
    ['Ana', { identifier: 'Ana', name: 'Ana' }],
    ['João  da Silva', { name: 'João da Silva' }],
    ['da Lu', { identifier: 'da Lu' }],
    ['POSTO 7 LTDA', { identifier: 'POSTO 7 LTDA', name: 'POSTO 7 LTDA' }],
    ['order-1001', { identifier: 'order-1001' }],
    ['E0000000120261124120000000000001', { identifier: 'E0000000120261124120000000000001' }],
    ['', {}],
    ['  ', {}],
    ['مرحبا', { name: 'مرحبا' }],
    ['💸', {}],
  ])('%j is %j', (typed, terms) => expect(found(typed)).toEqual(terms));

  it.each([
    ['order', { text: 'order', uuids: null }],
    ['E18236120', { text: 'E18236120', uuids: null }],
    [
      '01981f0a-7D',
      {
        text: '01981f0a-7D',
        uuids: {
          from: '01981f0a-7d00-0000-0000-000000000000',
          to: '01981f0a-7dff-ffff-ffff-ffffffffffff',
        },
      },
    ],
    ['01981f0-a7d3', { text: '01981f0-a7d3', uuids: null }],
    ['abc', null],
    ['two words', null],
  ])('%j may be how an id begins', (typed, beginning) =>
    expect(readSearchTerms(typed).beginning).toEqual(beginning),
  );

  it('is a bill by either form of its code', () => {
    const barCode = '84670000001435900240200240500024384221010811';
    const parsed = parseBillCode(barCode);
    const digitableLine = parsed.ok ? parsed.code.digitableLine : '';
    expect(digitableLine).toHaveLength(48);
    expect(found(barCode).barCode).toBe(barCode);
    expect(found(digitableLine).barCode).toBe(barCode);
    expect(found(digitableLine.replace(/.{12}/g, '$& ')).barCode).toBe(barCode);
  });

  it('is a slip with its amount', () => {
    const barCode = '99998165000000149900001112000000000011000001';
    const { slip } = readSearchTerms(barCode);
    expect(slip).toEqual({ digitableLine: expect.stringMatching(/^\d{47}$/), cents: 14_990n });
    expect(readSearchTerms(slip?.digitableLine ?? '')).toMatchObject({ barCode, slip });
  });

  it('stays out of addresses where it may name a person, and only there', () => {
    const personal = ['123.456.789-09', '12345678909', 'ana@example.com', 'Ana', '+5511999990000'];
    for (const typed of personal) expect(isPersonal(readSearchTerms(typed))).toBe(true);
    for (const typed of [id, '1000', 'R$ 10', 'order-1001', ''])
      expect(isPersonal(readSearchTerms(typed))).toBe(false);
  });

  it('names nobody once its personal terms are left out', () => {
    fc.assert(
      fc.property(anyText, (typed) => {
        const terms = withoutPersonalTerms(readSearchTerms(typed));
        expect(isPersonal(terms)).toBe(false);
        expect(terms.pixKey).toBeNull();
      }),
    );
  });

  it('is a text that PostgreSQL can compare, whatever was typed', () => {
    fc.assert(
      fc.property(anyText, (typed) => {
        const { text, name } = readSearchTerms(typed);
        expect(text).not.toMatch(/\0|[\u{D800}-\u{DFFF}]/u);
        expect([...(name ?? 'abc')].length).toBeGreaterThanOrEqual(3);
      }),
    );
  });

  it('is named by what it was read as', () => {
    expect(termsIn(readSearchTerms('1000'))).toEqual(['nsu', 'amountCents']);
    expect(termsIn(readSearchTerms('order-1001'))).toEqual(['identifier']);
    expect(termsIn(readSearchTerms(''))).toEqual([]);
  });
});
