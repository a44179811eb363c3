import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text.js';
import { accountAtItau, exportedLine, marchPeriod } from '../../../test/support/exported-lines.js';
import { ofxReaders } from '../../../test/support/ofx-readers.js';
import type { ExportedLine } from './exported-line.js';
import { ofxFile } from './ofx-file.js';

const correlationId = '6e6f2d5c-1a0b-4c3d-8e5f-000000000001';
const lines: Partial<ExportedLine>[] = [
  {
    nsu: 1n,
    amountCents: 10_000n,
    clientReference: correlationId,
    endToEndId: 'E99999999202603101504abcdefghijk',
    counterparty: { ...exportedLine().counterparty, name: 'João & Filhos Ltda' },
    notes: 'Nota 5; R$ 100,00 "à vista"',
  },
  { nsu: 2n, isCredit: false, amountCents: 150n, typeName: 'DEBIT_TARIFA', classification: 'fee' },
  { nsu: 3n, isCredit: false, amountCents: 2_000n, typeName: 'DEBIT_BILL_PAYMENT' },
];

function fileOf(some: Partial<ExportedLine>[]): string {
  const file = ofxFile(accountAtItau, marchPeriod);
  return [file.head(), ...some.map((line) => file.row(exportedLine(line))), file.foot()].join('');
}

describe.each(ofxReaders)('%s reads an OFX file', (_, read) => {
  // node-ofx-parser leaves entities as they are, and escapes their ampersand again.
  const plain = (text: string | undefined) => text?.replaceAll(/&(amp;)*/g, '&');

  it('with its bank, account, period, balance and lines', () => {
    const { transactions, ...statement } = read(fileOf(lines));
    expect(statement).toEqual({
      bank: 'Itaú Unibanco S.A.',
      account: '341/34567-8',
      until: expect.stringMatching(/^2026-?03-?31/),
      balance: 78.57,
    });
    expect(transactions.map((one) => [one.fitId, one.type, one.amount])).toEqual([
      ['1', 'XFER', 100],
      ['2', 'FEE', -1.5],
      ['3', 'PAYMENT', -20],
    ]);
    expect(transactions.map((one) => [one.reference, plain(one.name)])).toEqual([
      [correlationId.replaceAll('-', ''), 'João & Filhos Ltda'],
      [undefined, 'DEBIT_TARIFA'],
      [undefined, 'DEBIT_BILL_PAYMENT'],
    ]);
    expect(transactions[0]?.memo).toBe(
      `CREDIT_PIX Nota 5; R$ 100,00 "à vista" E99999999202603101504abcdefghijk ${correlationId}`,
    );
  });

  it('without lines', () => expect(read(fileOf([])).transactions).toEqual([]));

  it('with each of its lines, whatever payers write', () => {
    const marks = fc.string({
      unit: fc.constantFrom(...'＾＄｛{}[]",:\\\'&<>^`|#_;%$@ -/\t\0\u0085'),
    });
    const text = fc.oneof(anyText, marks);
    fc.assert(
      fc.property(text, text, text, (notes, clientReference, counterpartyName) => {
        const counterparty = { ...exportedLine().counterparty, name: counterpartyName };
        const hostile = { nsu: 2n, notes, clientReference, counterparty };
        const { transactions } = read(fileOf([{ nsu: 1n }, hostile, { nsu: 3n }]));
        expect(transactions.map(({ fitId, amount }) => [fitId, amount])).toEqual([
          ['1', 1234.56],
          ['2', 1234.56],
          ['3', 1234.56],
        ]);
      }),
      { numRuns: 1_000 },
    );
  });
});
