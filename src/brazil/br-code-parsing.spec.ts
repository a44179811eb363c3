import { describe, expect, it } from '@jest/globals';
import { crc16, readFields, writeField } from './br-code-fields.js';
import { parseBrCode, type BrCode } from './br-code.js';

const EVP = '123e4567-e12b-12d1-a456-426655440000';
/** The example of the central bank's manual. */
const MANUAL =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000' +
  '5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';

describe('parsing a BR Code', () => {
  it('parses the example of the manual', () => {
    expect(read(MANUAL)).toEqual({
      kind: 'STATIC',
      pixKey: EVP,
      url: null,
      recurrenceUrl: null,
      amountCents: null,
      txid: null,
      merchantName: 'Fulano de Tal',
      merchantCity: 'BRASILIA',
      postalCode: null,
      additionalInformation: null,
      withdrawalIspb: null,
    });
  });

  it('parses accents when the length counts characters, as in Stone’s example, or bytes', () => {
    expect(read(MANUAL.replace('BRASILIA', 'BRASÍLIA').replace('1D3D', 'B4F6')).merchantCity).toBe(
      'BRASÍLIA',
    );
    const inBytes = withCrc(MANUAL.slice(0, -8).replace('6008BRASILIA', '6009BRASÍLIA'));
    expect(read(inBytes)).toMatchObject({ merchantCity: 'BRASÍLIA', pixKey: EVP });
  });

  // Codes of financial institutions with redacted names, from the tests of Stone's ex_pix_brcode.
  it.each([
    [
      '00020126580014BR.GOV.BCB.PIX013611111111-1111-1111-1111-111111111111520400005303986' +
        '54040.015802BR5925Teste do Teste do TesteIE6009SAO PAULO61081111111162160512NUgpnvaS87Ts' +
        '6304760E',
      { kind: 'STATIC', amountCents: 1n, txid: 'NUgpnvaS87Ts', postalCode: '11111111' },
    ],
    [
      '00020126490014BR.GOV.BCB.PIX0111111111111110212Vacina covid52040000530398654031005802BR' +
        '5904CARL6010SAN.FIERRO62100506b4b4c46304040C',
      { kind: 'STATIC', amountCents: 10_000n, additionalInformation: 'Vacina covid' },
    ],
    [
      '00020126490014BR.GOV.BCB.PIX0111111111111110212Vacina covid520400005303986540310.5802BR' +
        '5904CARL6010SAN.FIERRO62100506b4b4c463049878',
      { kind: 'STATIC', amountCents: 1000n, pixKey: '11111111111' },
    ],
    [
      '00020101021226850014br.gov.bcb.pix2563exemplodeurl.com.br/pix/v2/' +
        '11111111-1111-1111-1111-11111111111152040000530398654040.015802BR' +
        '5925TESTE DE TESTE DO TESTEIE6014RIO DE JANEIRO62070503***6304CD52',
      { kind: 'DYNAMIC', amountCents: null, merchantCity: 'RIO DE JANEIRO' },
    ],
    [
      '00020126990014br.gov.bcb.pix2577qr-h.sandbox.pix.bcb.gov.br/rest/api/v2/cobv/' +
        '9b95a87c10a84d65bcbf55a48a2e50c85204000053039865802BR5903Pix6008BRASILIA62070503***' +
        '63048ECF',
      { kind: 'DYNAMIC', merchantName: 'Pix', txid: null },
    ],
  ])('parses codes that are in use: %s', (payload, expected) => {
    expect(read(payload)).toMatchObject(expected);
  });

  it('identifies a dynamic code by its URL, and ignores its amount and txid', () => {
    const payload =
      '00020101021226480014br.gov.bcb.pix2526pix.example.com/qr/v2/12345204000053039865802BR' +
      '5913Fulano de Tal6008Brasilia62070503***6304FC66';
    const expected = { kind: 'DYNAMIC', url: 'pix.example.com/qr/v2/1234', pixKey: null };
    expect(read(payload)).toMatchObject(expected);
    const withAmount = payload
      .slice(0, -8)
      .replace('5802BR', '540510.005802BR')
      .replace('62070503***', '62080504ABCD');
    expect(read(withCrc(withAmount))).toMatchObject({ ...expected, amountCents: null, txid: null });
  });

  it('finds Pix in any template from 26 to 51, in upper or lower case', () => {
    const account = writeField('00', 'BR.GOV.BCB.PIX') + writeField('01', EVP);
    for (const id of ['26', '27', '40', '51']) {
      const payload = rebuilt({ '26': null, [id]: account });
      expect(read(payload).pixKey).toBe(EVP);
    }
    const secondTemplate = rebuilt({ '26': writeField('00', 'com.example'), '27': account });
    expect(read(secondTemplate).pixKey).toBe(EVP);
    expect(parseBrCode(rebuilt({ '26': null, '52': '0000' }))).toEqual({
      ok: false,
      reason: 'not_pix',
    });
  });

  it('accepts any order of the fields between the first and the last', () => {
    const [first = '', ...rest] = [...(readFields(MANUAL.slice(0, -8)) ?? [])].map(([id, value]) =>
      writeField(id, value),
    );
    expect(read(withCrc(first + rest.reverse().join('')))).toEqual(read(MANUAL));
    expect(parseBrCode(withCrc(rest.join('') + first))).toEqual({ ok: false, reason: 'malformed' });
  });

  it('parses a Pix Automático URL with and without a payment', () => {
    const recurrence = writeField('00', 'br.gov.bcb.pix') + writeField('25', 'pix.example/rec/1');
    expect(read(rebuilt({ '80': recurrence }))).toMatchObject({
      kind: 'STATIC',
      recurrenceUrl: 'pix.example/rec/1',
    });
    expect(read(rebuilt({ '26': null, '99': recurrence }))).toMatchObject({
      kind: 'DYNAMIC',
      url: null,
      recurrenceUrl: 'pix.example/rec/1',
    });
  });

  it('identifies a Pix Saque by the ISPB of the institution that pays out cash', () => {
    const account = ['br.gov.bcb.pix', EVP]
      .map((value, id) => writeField(`0${id}`, value))
      .join('');
    const payload = rebuilt({ '26': account + writeField('03', '12345678'), '54': '0.00' });
    expect(read(payload)).toMatchObject({ withdrawalIspb: '12345678', amountCents: null });
  });

  it.each([
    ['10', 1000n],
    ['10.5', 1050n],
    ['10.50', 1050n],
    ['10.', 1000n],
    ['0', null],
    ['9999999999.99', 999_999_999_999n],
  ])('parses the amount %s', (text, amountCents) => {
    expect(read(rebuilt({ '54': text })).amountCents).toBe(amountCents);
  });

  it.each(['10,00', '-1', '1e2', '10.005', '٣', '', '00000000010.00'])(
    'rejects the amount %j',
    (text) => {
      expect(parseBrCode(rebuilt({ '54': text }))).toEqual({ ok: false, reason: 'malformed' });
    },
  );

  it.each([
    ['a key and a URL', { '26': `0014br.gov.bcb.pix0136${EVP}2503a.b` }, 'malformed'],
    ['neither a key nor a URL', { '26': '0014br.gov.bcb.pix' }, 'not_pix'],
    ['an empty key', { '26': '0014br.gov.bcb.pix0100' }, 'not_pix'],
    ['dollars', { '53': '840' }, 'wrong_currency'],
    ['no currency', { '53': null }, 'wrong_currency'],
    ['no name', { '59': null }, 'malformed'],
    ['no city', { '60': null }, 'malformed'],
    ['a malformed additional template', { '62': '0599' }, 'malformed'],
  ])('rejects %s', (_, changes, reason) => {
    expect(parseBrCode(rebuilt(changes))).toEqual({ ok: false, reason });
  });

  it('rejects a code whose CRC field is at the end of another field', () => {
    const text = `${MANUAL.slice(0, -8)}99086304`;
    expect(parseBrCode(text + crc16(text))).toEqual({ ok: false, reason: 'malformed' });
  });

  it('rejects a field that occurs twice, which two readers could read as two payments', () => {
    const twice = MANUAL.slice(0, -8).replace('5802BR', '540510.00540599.005802BR');
    expect(parseBrCode(withCrc(twice))).toEqual({ ok: false, reason: 'malformed' });
  });

  it('accepts lower case letters in the CRC and white space around the code', () => {
    expect(parseBrCode(MANUAL.replace('1D3D', '1D3E'))).toEqual({ ok: false, reason: 'wrong_crc' });
    expect(read(` ${MANUAL.replace('1D3D', '1d3d')}\n`)).toEqual(read(MANUAL));
  });
});

function read(payload: string): BrCode {
  const parsed = parseBrCode(payload);
  if (!parsed.ok) throw new Error(`${parsed.reason}: ${payload}`);
  return parsed.brCode;
}

function withCrc(fields: string): string {
  return `${fields}6304${crc16(`${fields}6304`)}`;
}

/** The manual's example with fields changed, added, or removed (null). */
function rebuilt(changes: Record<string, string | null>): string {
  const fields = new Map<string, string | null>(readFields(MANUAL.slice(0, -8)) ?? []);
  for (const [id, value] of Object.entries(changes)) fields.set(id, value);
  return withCrc(
    [...fields].map(([id, value]) => (value === null ? '' : writeField(id, value))).join(''),
  );
}
