import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../../platform/json/exact-json.js';
import {
  parseInstant,
  parseStatementLine,
  parseStoredContent,
  type StatementLine,
} from './statement-line.js';

const fields: Record<string, string> = {
  id: '"6f1"',
  correlationId: '"order-1"',
  nsu: '42',
  amount: '10.5',
  notes: '"thanks"',
  createdAt: '"2026-01-02T03:04:05.678Z"',
  type: '{"name":"CREDIT_PIX","description":"Pix","isCredit":true}',
  balance: '{"balancePrevious":100,"currentBalance":110.5}',
  proof: '{"endToEndId":"E1","externalId":"x-1","originalEndToEndId":"E0"}',
};

/** Parses the line with some fields replaced by JSON text; null leaves a field out. */
function parse(change: Record<string, string | null> = {}) {
  const entries = Object.entries({ ...fields, ...change }).filter(([, value]) => value !== null);
  return parseStatementLine(
    parseJson(`{${entries.map(([name, text]) => `"${name}":${text}`).join(',')}}`),
  );
}

function line(change: Record<string, string | null> = {}): StatementLine {
  const parsed = parse(change);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.line;
}

const debit = '{"name":"DEBIT_PIX","isCredit":false}';

describe('parseStatementLine', () => {
  it('reads every field', () => {
    expect(line()).toEqual({
      nsu: 42n,
      bankId: '6f1',
      isCredit: true,
      amountCents: 1_050n,
      typeName: 'CREDIT_PIX',
      correlationId: 'order-1',
      endToEndId: 'E1',
      externalId: 'x-1',
      originalEndToEndId: 'E0',
      movementId: null,
      idempotencyKey: null,
      billCode: null,
      counterparty: null,
      counterpartyDocument: null,
      counterpartyMaskedTaxId: null,
      counterpartyName: null,
      counterpartyIspb: null,
      counterpartyBranch: null,
      counterpartyAccount: null,
      message: null,
      paidOn: null,
      hasOneHolder: false,
      notes: 'thanks',
      balancePreviousCents: 10_000n,
      currentBalanceCents: 11_050n,
      occurredAt: new Date('2026-01-02T03:04:05.678Z'),
      content: expect.stringContaining('"amount":10.5') as unknown,
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
  });

  it.each([
    [debit, 'beneficiary', '88888888/1/7654321'],
    [debit, 'payer', null],
    ['{"name":"CREDIT_PIX","isCredit":true}', 'payer', '88888888/1/7654321'],
  ])('reads the counterparty of %s from its %s', (type, side, counterparty) => {
    const party = '{"number":"765432-1","branch":"0001","participant":{"ispb":"88888888"}}';
    const proof = `{"id":"m-1","idempotencyKey":"k-1","barCode":"2379","${side}":${party}}`;
    expect(line({ type, proof })).toMatchObject({
      movementId: 'm-1',
      idempotencyKey: 'k-1',
      billCode: '2379',
      counterparty,
    });
  });

  it('stores who paid in columns of their own, and a hidden tax id as the bank shows it', () => {
    const type = '{"name":"CREDIT_PIX","isCredit":true}';
    const party = '"number":"00765432-1","branch":"0001","participant":{"ispb":"00000001"}';
    const proofOf = (document: string) =>
      `{"description":"Aluguel","payer":{${party},"holder":{"name":"Ana","document":"${document}"}}}`;
    expect(line({ type, proof: proofOf('123.456.789-09') })).toMatchObject({
      counterpartyName: 'Ana',
      counterpartyDocument: '12345678909',
      counterpartyMaskedTaxId: null,
      counterpartyIspb: '00000001',
      counterpartyBranch: '0001',
      counterpartyAccount: '00765432-1',
      message: 'Aluguel',
    });
    expect(line({ type, proof: proofOf('***456789**') })).toMatchObject({
      counterpartyDocument: null,
      counterpartyMaskedTaxId: '***.456.789-**',
    });
  });

  const [direct, ofHolder] = [
    (document: string) => `{"document":"${document}"}`,
    (document: string) => `{"holder":{"document":"${document}"}}`,
  ];
  it.each([
    ['11222333000181', '11222333000181', true],
    ['11222333000181', '11.222.333/0001-81', true],
    ['12ABC34501DE35', '12.abc.345/01de-35', true],
    ['123.456.789-09', '12345678909', true],
    ['11222333000181', '11222333000262', false],
    ['11222333000181', '12345678909', false],
    ['***.456.789-**', '***.456.789-**', false],
    ['', '', false],
  ])('reads from the payer %s and the beneficiary %s whether they have one holder: %p', (...of) => {
    const [payer, beneficiary, expected] = of;
    for (const party of [direct, ofHolder])
      for (const type of [debit, '{"name":"CREDIT_PIX","isCredit":true}']) {
        const proof = `{"payer":${direct(payer)},"beneficiary":${party(beneficiary)}}`;
        expect(line({ type, proof }).hasOneHolder).toBe(expected);
      }
    expect(line({ proof: `{"payer":${ofHolder(payer)}}` }).hasOneHolder).toBe(false);
  });

  it.each([
    ['0.1', 10n],
    ['1e2', 10_000n],
    ['10.50', 1_050n],
    ['10.500000', 1_050n],
    ['0', 0n],
    ['-0', 0n],
    ['8.95', 895n],
    ['999999999999.99', 99_999_999_999_999n],
  ])('reads the amount %s exactly in cents', (amount, cents) => {
    expect(line({ amount }).amountCents).toBe(cents);
  });

  it.each([
    '10.005',
    '10.000000000000000001',
    '"10,00"',
    '"10.00"',
    '1e400',
    '1e-400',
    'null',
    'true',
    '[10]',
    '{"value":10}',
    null,
  ])('reports a line with the amount %s as unreadable, with its nsu', (amount) => {
    expect(parse({ amount })).toMatchObject({
      ok: false,
      reason: 'cannot be read at amount',
      nsu: 42n,
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
  });

  it('reads a debit with an amount of either sign, and rejects a negative credit', () => {
    expect(line({ amount: '-1', type: debit })).toMatchObject({
      isCredit: false,
      amountCents: 100n,
    });
    expect(line({ amount: '1', type: debit })).toMatchObject({
      isCredit: false,
      amountCents: 100n,
    });
    expect(parse({ amount: '-1' })).toMatchObject({ ok: false, nsu: 42n });
  });

  it.each([
    ['an unknown type', { type: '{"name":"ANY_NEW_TYPE","isCredit":true}' }],
    ['no proof', { proof: null }],
    ['a null proof', { proof: 'null' }],
    ['an empty proof', { proof: '{}' }],
    ['no notes', { notes: null }],
    ['null notes', { notes: 'null' }],
    ['no correlationId', { correlationId: null }],
    ['unknown fields', { more: '{"deep":[1,{"x":null}]}' }],
    ['a field called __proto__', { ['__proto__']: '{"amount":1}' }],
    ['an id that is a number', { id: '12345678901234567890' }],
    ['no id', { id: null }],
    ['a type without a name', { type: '{"isCredit":true}' }],
    ['notes that are not text', { notes: '[1]' }],
    ['a proof that is not an object', { proof: '"E1"' }],
    ['ids of another length', { id: `"${'9'.repeat(64)}"` }],
    ['negative balances', { balance: '{"balancePrevious":-5.25,"currentBalance":-0.01}' }],
  ])('reads a line with %s', (_, change) => {
    expect(line(change).amountCents).toBe(1_050n);
  });

  it('reads an nsu above 2^53 exactly', () => {
    expect(line({ nsu: '9007199254740993' }).nsu).toBe(9_007_199_254_740_993n);
    expect(line({ nsu: '999999999999999999' }).nsu).toBe(999_999_999_999_999_999n);
  });

  it.each(['1.5', '1e3', '"42"', '-0.0', 'null', '9223372036854775808', null])(
    'reports a line with the nsu %s as unreadable, without an nsu',
    (nsu) => {
      expect(parse({ nsu })).toMatchObject({
        ok: false,
        reason: 'cannot be read at nsu',
        nsu: null,
      });
    },
  );

  it.each(['balancePrevious', 'currentBalance'])('rejects a line with an inexact %s', (name) => {
    const balance = { balancePrevious: 1, currentBalance: 1, [name]: 0.001 };
    expect(parse({ balance: JSON.stringify(balance) })).toMatchObject({
      ok: false,
      reason: `cannot be read at balance.${name}`,
    });
  });

  it('reads ids from the line first, then from its proof', () => {
    const both = {
      endToEndId: '"E9"',
      correlationId: null,
      proof: '{"endToEndId":"E1","correlationId":"c"}',
    };
    expect(line(both)).toMatchObject({ endToEndId: 'E9', correlationId: 'c', externalId: null });
  });

  it.each(['null', '""', '{}', '["E1"]', 'true'])('reads no id from %s', (id) => {
    const change = { correlationId: null, proof: `{"correlationId":${id},"endToEndId":${id}}` };
    expect(line(change)).toMatchObject({ correlationId: null, endToEndId: null });
  });

  it('reads an id that is a number as its digits', () => {
    const ids = line({ id: '12345678901234567890', correlationId: '9007199254740993' });
    expect(ids).toMatchObject({
      bankId: '12345678901234567890',
      correlationId: '9007199254740993',
    });
  });

  it('reads no id from a __proto__ field', () => {
    expect(line({ proof: '{"__proto__":{"endToEndId":"E7"}}' }).endToEndId).toBeNull();
  });

  it('returns no text that PostgreSQL rejects', () => {
    const oddText = '"a\\u0000b\\ud800c\\udc00d"';
    const parsedLine = line({
      id: oddText,
      correlationId: oddText,
      notes: oddText,
      type: `{"name":${oddText},"isCredit":true}`,
      proof: `{"endToEndId":${oddText}}`,
    });
    const stored = 'ab\ufffdc\ufffdd';
    expect(parsedLine).toMatchObject({ bankId: stored, correlationId: stored, notes: stored });
    expect(parsedLine).toMatchObject({ typeName: stored, endToEndId: stored });
    for (const text of Object.values(parsedLine).filter((value) => typeof value === 'string')) {
      expect(text).not.toContain('\0');
      expect(Buffer.from(text).toString()).toBe(text);
    }
  });

  it('preserves characters of two surrogates', () => {
    expect(line({ notes: '"\\ud83d\\ude00 😀"' }).notes).toBe('😀 😀');
  });

  it('reports the path of an unreadable value, never the value', () => {
    const canary = '"12345678909 maria"';
    for (const name of ['amount', 'nsu', 'createdAt', 'type', 'balance'])
      expect(parse({ [name]: canary })).not.toHaveProperty(
        'reason',
        expect.stringMatching(/maria/),
      );
  });

  it('has a hash that depends on the content, not on its notation', () => {
    const hash = line().contentHash;
    expect(line({ amount: '10.50', nsu: '42' }).contentHash).toBe(hash);
    const reversed = Object.entries(fields).reverse();
    const reformatted = `{${reversed.map(([name, text]) => ` "${name}" : ${text}`).join(' ,\n')} }`;
    expect(parseStatementLine(parseJson(reformatted))).toMatchObject({
      line: { contentHash: hash },
    });
    const changes: Record<string, string>[] = [
      { amount: '10.51' },
      { notes: '"other"' },
      { more: 'null' },
    ];
    for (const change of changes) expect(line(change).contentHash).not.toBe(hash);
  });

  it.each(['null', '5', '"text"', '[]', '[[]]', 'true', '{}'])(
    'reports %s as unreadable',
    (text) => {
      expect(parseStatementLine(parseJson(text))).toMatchObject({
        ok: false,
        nsu: null,
        content: text,
      });
    },
  );

  it('never throws, whatever the JSON', () => {
    const anyField = fc.constantFrom(...Object.keys(fields));
    fc.assert(
      fc.property(anyField, fc.json(), (name, json) => {
        const parsed = parse({ [name]: json });
        if (!parsed.ok) expect(parsed.reason).toContain('cannot be read at');
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(parseStatementLine(parseJson(json)).ok).toBe(false);
      }),
    );
  });

  it('parses a number of many digits in time proportional to its length', () => {
    const startedAt = performance.now();
    parse({ more: `1${'0'.repeat(50_000)}1` });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe('parseStoredContent', () => {
  const { content } = line();

  it('reads the line of the text, and keeps the text', () => {
    const twice = `{"notes": "before",${content.slice(1)}`;
    expect(parseStoredContent(twice)).toEqual({ ...line(), content: twice });
  });

  it.each(['', 'null', 'not JSON', content.slice(1), `${content},`, `${content},{}`, '{}'])(
    'reads no line in %s',
    (text) => expect(parseStoredContent(text)).toBeNull(),
  );
});

describe('parseInstant', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.1234567Z', '2026-01-02T03:04:05.123Z'],
    ['2026-01-02T00:04:05-03:00', '2026-01-02T03:04:05.000Z'],
    ['2025-05-15T12:36:48', '2025-05-15T12:36:48.000Z'],
    ['2026-03-18T02:59:59', '2026-03-18T02:59:59.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('parses %s, as UTC where it has no zone', (text, instant) => {
    expect(parseInstant(text)?.toISOString()).toBe(instant);
  });

  it.each([
    '',
    'yesterday',
    '2026-01-02',
    '02/01/2026 03:04',
    '2026-1-2T03:04:05Z',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04Z',
    '2026-13-01T00:00:00Z',
    '2026-01-02T25:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:05+99:00',
    '2026-01-02T03:04:05Z\n',
    '1767322800000',
    '٢٠٢٦-01-02T03:04:05Z',
  ])('rejects %j', (text) => expect(parseInstant(text)).toBeNull());

  it.each(['2026-02-30T10:00:00Z', '2025-02-29T10:00:00Z', '2026-04-31T10:00:00'])(
    'rejects %s, a day that does not exist',
    (text) => expect(parseInstant(text)).toBeNull(),
  );

  it.each(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+03:00'])(
    'rejects %s, which PostgreSQL cannot store',
    (text) => expect(parseInstant(text)).toBeNull(),
  );
});
