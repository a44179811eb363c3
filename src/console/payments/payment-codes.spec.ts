// Codes are read from the bank's responses, and scanners read what is drawn.
import { describe, expect, it } from '@jest/globals';
import jsQR from 'jsqr';
import { buildBankSlip, formatDigitableLine } from '../../brazil/bank-slip.js';
import { billCodes, codesOf, drawBarCode, drawQrCode } from './payment-codes.js';

const slip = buildBankSlip({
  bankCode: '341',
  amountCents: 123_456n,
  dueDate: '2026-11-30',
  freeField: '1234567890123456789012345',
});
const pixCode = '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053';

describe('the codes of a charge', () => {
  it('are those of a slip', () => {
    expect(codesOf({ type: 'BANKSLIP', ...slip })).toEqual({ ...slip, pixCode: null });
  });

  it('are those of a slip with QR code', () => {
    const information = { key: 'DigitableLine', value: formatDigitableLine(slip.digitableLine) };
    const response = { qrCode: pixCode, additionalInfo: [null, information] };
    expect(codesOf(response)).toEqual({ ...slip, pixCode });
  });

  it('are that of a static QR code, whose information is a text', () => {
    const none = { barCode: null, digitableLine: null };
    expect(codesOf({ payloadPix: pixCode, additionalInfo: 'x' })).toEqual({ ...none, pixCode });
  });

  it.each([null, undefined, 'text', {}, { digitableLine: 7, qrCode: '', barCode: null }])(
    'are none in the response %j',
    (response) =>
      expect(codesOf(response)).toEqual({ barCode: null, digitableLine: null, pixCode: null }),
  );

  it('are none where the text does not fit into a QR code', () =>
    expect(codesOf({ qrCode: 'x'.repeat(513) }).pixCode).toBeNull());

  it('are not drawn from a bar code with a wrong check digit', () => {
    const digit = slip.barCode[4] === '9' ? '8' : '9';
    const wrong = `${slip.barCode.slice(0, 4)}${digit}${slip.barCode.slice(5)}`;
    expect(billCodes(wrong)).toEqual({ barCode: null, digitableLine: null });
  });
});

describe('a drawn code', () => {
  it('is read as the bar code', async () => {
    expect(digitsOf(await drawBarCode(slip.barCode))).toBe(slip.barCode);
  });

  it('is read as the text of the QR code', async () => {
    const { data, width } = bitmapOf(await drawQrCode(pixCode));
    expect(jsQR.default(data, width, width)?.data).toBe(pixCode);
  });

  it.each(['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>'])(
    'holds no markup of the text %s',
    async (text) => expect(await drawQrCode(text)).not.toMatch(/script|onerror/),
  );
});

/** Reads ITF from the bars of an SVG: five bars and the five spaces after them are two digits. */
function digitsOf(svg: string): string {
  const bars = [...svg.matchAll(/stroke-width="([\d.]+)" d="([^"]+)"/g)].flatMap(
    ([, width = '', path = '']) =>
      [...path.matchAll(/M([\d.]+) /g)].map(([, at = '']) => ({
        left: Number(at) - Number(width) / 2,
        width: Number(width),
      })),
  );
  bars.sort((one, other) => one.left - other.left);
  const widths = bars.flatMap(({ left, width }, index) => {
    const next = bars[index + 1];
    return next ? [width, next.left - left - width] : [width];
  });
  const narrow = Math.min(...widths);
  // Between the start of two bars, and the stop of two bars, the first of them wide.
  const isWide = widths.slice(4, -3).map((width) => width > narrow * 1.5);
  const digits: string[] = [];
  for (let at = 0; at < isWide.length; at += 10) {
    const pair = isWide.slice(at, at + 10);
    digits.push(digitOf(pair.filter((_, index) => index % 2 === 0)));
    digits.push(digitOf(pair.filter((_, index) => index % 2 === 1)));
  }
  return digits.join('');
}

/** Of five elements two are wide; their places have the weights 1, 2, 4, 7 and parity. */
function digitOf(wide: readonly boolean[]): string {
  const sum = wide.reduce((total, one, index) => total + (one ? [1, 2, 4, 7, 0][index]! : 0), 0);
  return String(sum === 11 ? 0 : sum);
}

/** The modules of an SVG of the library `qrcode`, four pixels each. */
function bitmapOf(svg: string): { data: Uint8ClampedArray; width: number } {
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
  const scale = 4;
  const width = size * scale;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  const [, path = ''] = /stroke="#000000" d="([^"]+)"/.exec(svg) ?? [];
  let [x, y] = [0, 0];
  for (const [, command, first = '', second = ''] of path.matchAll(
    /([Mmh])(-?[\d.]+)(?:[ ,]?(-?[\d.]+))?/g,
  )) {
    if (command === 'M') [x, y] = [Number(first), Number(second)];
    if (command === 'm') [x, y] = [x + Number(first), y + Number(second)];
    if (command !== 'h') continue;
    for (let column = x * scale; column < (x + Number(first)) * scale; column += 1)
      for (let row = 0; row < scale; row += 1) {
        const at = ((Math.floor(y) * scale + row) * width + column) * 4;
        data.fill(0, at, at + 3);
      }
    x += Number(first);
  }
  return { data, width };
}
