import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../test/support/any-text.js';
import { parseReais } from './cents.js';
import { parseBankSlip } from './bank-slip.js';
import { additionalInformationSpace, parseBrCode } from './br-code.js';
import { crc16, foldToAscii, readFields } from './br-code-fields.js';
import { parsePlainDate } from './calendar.js';
import { parseEndToEndId } from './end-to-end-id.js';
import { parsePixKey } from './pix-key.js';
import { isStaticTxid, txidOfCorrelationId } from './static-txid.js';
import { parseTaxId } from './tax-id.js';
import { parseUtilityBill } from './utility-bill.js';

const parsers: [name: string, parse: (text: string) => unknown][] = [
  ['parseReais', parseReais],
  ['parseBankSlip', (text) => parseBankSlip(text, '2026-11-21')],
  ['parseUtilityBill', parseUtilityBill],
  ['parseBrCode', parseBrCode],
  ['readFields', readFields],
  ['foldToAscii', foldToAscii],
  ['additionalInformationSpace', additionalInformationSpace],
  ['parsePlainDate', parsePlainDate],
  ['parseEndToEndId', parseEndToEndId],
  ['parsePixKey', parsePixKey],
  ['isStaticTxid', isStaticTxid],
  ['txidOfCorrelationId', txidOfCorrelationId],
  ['parseTaxId', parseTaxId],
];

/** Valid texts, to be damaged. Damaged texts get further into a parser than random texts. */
const VALID = [
  '10.50',
  '1e400',
  '00190000090114971860168524522114675860000102656',
  '00196758600001026560000001149718606852452211',
  '846100000005246100291102005460339004695895061080',
  '2026-11-21',
  'E12345678202009091221kkkkkkkkkkk',
  '123.456.789-09',
  '12.ABC.345/01DE-35',
  '+5511987654321',
  'fulano@example.com',
  '123e4567-e12b-12d1-a456-426655440000',
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000' +
    '5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
];

const LONG = 200_000;
const LONG_TEXTS = [
  '0',
  '9',
  '1.',
  ' ',
  '-',
  '+1',
  'a@',
  'a.',
  '8',
  '\ud800',
  '٠',
  '\u0000',
  'é',
  '6304',
];

const anyUtf16 = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
  .map((units) => String.fromCharCode(...units));
const hostile = fc.constantFrom(
  '\u0000',
  '\ud800',
  '\udfff',
  '٣',
  '３',
  'é',
  '🍎',
  '\n',
  '-',
  '.',
  '',
);
const damaged = fc
  .record({
    text: fc.constantFrom(...VALID),
    at: fc.nat(),
    insert: hostile,
    cut: fc.nat({ max: 2 }),
  })
  .map(({ text, at, insert, cut }) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + insert + text.slice(start + cut);
  });
const codeLike = fc.string({ unit: fc.constantFrom(...'0123456789.+-eE@ED ') });
/** Damaged codes with a correct CRC, so that their fields are parsed. */
const signedDamage = damaged.map((text) => {
  const fields = `000201${text.slice(6, -8)}6304`;
  return fields + crc16(fields);
});

describe.each(parsers)('%s', (_, parse) => {
  it('never throws for any text', () => {
    const text = fc.oneof(anyText, anyUtf16, damaged, signedDamage, codeLike);
    fc.assert(
      fc.property(text, (source) => {
        parse(source);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes linear time for a long text', () => {
    const texts = [
      ...LONG_TEXTS.map((unit) => unit.repeat(LONG)),
      ...VALID.map((text) => text + ' '.repeat(LONG) + 'x'),
      ...VALID.map((text) => '0'.repeat(LONG) + text),
      `0.${'0'.repeat(LONG)}1`,
      `1${'0'.repeat(LONG)}e-${LONG}`,
    ];
    const startedAt = performance.now();
    for (const text of texts) parse(text);
    // A linear parser takes a few milliseconds for each text; a quadratic one takes minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
