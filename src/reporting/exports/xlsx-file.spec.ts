import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { toCoding } from '../../statement/expected-payments/coding.js';
import fc from 'fast-check';
import readSheet from 'read-excel-file/node';
import { anyText } from '../../../test/support/any-text.js';
import { exportedLine } from '../../../test/support/exported-lines.js';
import type { ExportedLine } from './exported-line.js';
import { statementTable } from './statement-table.js';
import { xlsxFile } from './xlsx-file.js';

async function bytesOf(lines: Partial<ExportedLine>[]): Promise<Buffer> {
  const file = xlsxFile(statementTable);
  const rows = lines.map((line) => () => file.row(exportedLine(line)));
  const sheet = [file.head, ...rows, file.foot].map((write) => Buffer.from(write()));
  return buffer(file.container?.(Readable.from(sheet)) ?? Readable.from([]));
}

const titles = statementTable.columns.map(({ title }) => title);

/** The rows below the titles, by the titles, as `read-excel-file` reads them. */
async function rowsOf(lines: Partial<ExportedLine>[]) {
  const [sheet] = await readSheet(await bytesOf(lines));
  expect(sheet?.sheet).toBe('Extrato');
  expect(sheet?.data[0]).toEqual(titles);
  return (sheet?.data ?? [])
    .slice(1)
    .map((cells) => Object.fromEntries(titles.map((title, at) => [title, cells[at]])));
}

describe('an XLSX file of the statement', () => {
  it('has amounts as numbers, days and São Paulo times as dates, and labels for people', async () => {
    const [row] = await rowsOf([
      {
        isCredit: false,
        amountCents: 123_456_789_01n,
        occurredAt: new Date('2026-03-11T02:59:58Z'),
        counterparty: { ...exportedLine().counterparty, name: 'João & Filhos <Ltda>' },
        clientReference: '0007',
        state: 'classified',
        coding: toCoding({ category: 'fee', project: 'Loja' }),
      },
    ]);
    expect(row).toMatchObject({
      Data: new Date('2026-03-10T00:00:00Z'),
      'Data e hora': new Date('2026-03-10T23:59:58Z'),
      NSU: 101,
      'Crédito ou débito': 'Débito',
      Valor: -123_456_789.01,
      Contraparte: 'João & Filhos <Ltda>',
      Referência: '0007',
      Situação: 'Classificado',
      Categoria: 'Tarifa',
      ...{ 'Centro de custo': null, Projeto: 'Loja' },
    });
  });

  it('has an nsu that a sheet would round as text', async () =>
    expect((await rowsOf([{ nsu: 9_007_199_254_740_993n }]))[0]?.NSU).toBe('9007199254740993'));

  it('has no lines in a file without lines', async () => expect(await rowsOf([])).toEqual([]));

  it('has each line and each text, whatever payers write', async () => {
    const marks = fc.string({ unit: fc.constantFrom(...'=+-@<>&"\'_x0041_\t\n\r\0\u0085\ufffe ') });
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyText, marks), async (notes) => {
        const rows = await rowsOf([{ nsu: 1n }, { nsu: 2n, notes }, { nsu: 3n }]);
        expect(rows.map(({ NSU }) => NSU)).toEqual([1, 2, 3]);
        expect(rows[1]?.Descrição ?? '').toEqual(expect.any(String));
      }),
      { numRuns: 100 },
    );
  });

  it('cuts a text that a cell cannot hold, and no character in two', async () => {
    const [row] = await rowsOf([{ notes: `x${'😀'.repeat(20_000)}` }]);
    expect(row?.Descrição).toBe(`x${'😀'.repeat(16_383)}`);
  });
});
