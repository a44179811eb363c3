import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text.js';
import { accountAtItau, exportedLine } from '../../../test/support/exported-lines.js';
import { cnab240File, type CnabAccount } from './cnab240-file.js';
import type { StatementPeriod } from './exported-line.js';

const period: StatementPeriod = {
  from: '2026-03-01',
  to: '2026-03-31',
  openingCents: -50n,
  isPartial: false,
  generatedAt: new Date('2026-04-01T01:02:03Z'),
};
/** A bank without constants of its own: FEBRABAN's are used. */
const account = { ...accountAtItau, bankCode: '999' };
type Line = Parameters<typeof exportedLine>[0];

function records(lines: Line[], batchLines?: number): string[] {
  const file = cnab240File({ account, period, fileNumber: 7, batchLines });
  const text = [file.head(), ...lines.map((line) => file.row(exportedLine(line))), file.foot()];
  const all = text.join('').split('\r\n');
  expect(all.pop()).toBe('');
  return all;
}
const endToEndId = 'E99999999202603101504abcdefghijk';
const party = { ...exportedLine().counterparty, name: 'João & Filhos' };
/** The text between two positions of the layout, counted from 1, both included. */
const at = (record: string | undefined, from: number, to: number) => record?.slice(from - 1, to);

describe('a CNAB 240 file of the statement', () => {
  const [fileHeader, batchHeader, detail, second, batchTrailer, fileTrailer] = records([
    { amountCents: 150n, currentBalanceCents: 100n },
    {
      nsu: 9_007_199_254_740_993n,
      isCredit: false,
      typeName: 'DEBIT_BILL_PAYMENT',
      amountCents: 1n,
      currentBalanceCents: 99n,
      notes: 'Conta de água; ação nº 5 de março',
      occurredAt: new Date('2026-03-12T02:00:00Z'),
    },
  ]);

  it('states bank, holder, account and creation time in its header', () => {
    expect(at(fileHeader, 1, 8)).toBe('99900000');
    expect(at(fileHeader, 18, 52)).toBe(`211222333000181${'00123'.padEnd(20)}`);
    expect(at(fileHeader, 53, 72)).toBe('00012 0000000345678 ');
    expect(at(fileHeader, 73, 102)).toBe('PADARIA SAO JOAO LTDA'.padEnd(30));
    expect(at(fileHeader, 103, 132)).toBe('ITAU UNIBANCO S.A.'.padEnd(30));
    expect(at(fileHeader, 143, 171)).toBe('23103202622020300000710300000');
  });

  it('states a CPF, letters of a CNPJ, and check digits of branch and account', () => {
    const holderOf = (changes: Partial<CnabAccount>) =>
      at(
        cnab240File({ account: { ...account, ...changes }, period, fileNumber: 7 }).head(),
        18,
        72,
      );
    const natural = holderOf({ holderTaxId: '12345678909', branchDigit: 'X', accountDigit: '10' });
    expect(natural).toBe(`100012345678909${'00123'.padEnd(20)}00012X00000003456710`);
    expect(holderOf({ holderTaxId: '12ABC34501DE35' })).toMatch(/^212ABC34501DE35/);
  });

  it('opens a batch of service 04 with the balance before its first line', () => {
    expect(at(batchHeader, 4, 17)).toBe('00011E0440033 ');
    expect(at(batchHeader, 143, 150)).toBe('28022026');
    expect(at(batchHeader, 151, 178)).toBe('000000000000000050DFBRL00007');
  });

  it('states a number of six digits whole in its header, and the last five in its batches', () => {
    const text = cnab240File({ account, period, fileNumber: 123_456 }).head();
    expect([at(text, 158, 163), at(text, 242 + 174, 242 + 178)]).toEqual(['123456', '23456']);
  });

  it('has one segment E for each line, with each field at its position', () => {
    expect(at(detail, 4, 17)).toBe('0001300001E   ');
    expect(at(detail, 109, 134)).toBe(`DPV00${' '.repeat(20)}N`);
    expect(at(detail, 135, 172)).toBe('1003202610032026000000000000000150C209');
    expect(at(detail, 177, 201)).toBe('CREDIT_PIX'.padEnd(25));
    expect(at(detail, 202, 240)).toBe('101'.padEnd(39));
    expect(at(second, 9, 14)).toBe('00002E');
    expect(at(second, 143, 172)).toBe('11032026000000000000000001D112');
    expect(at(second, 177, 201)).toBe('CONTA DE AGUA; ACAO N? 5 ');
    expect(at(second, 202, 240)).toBe('9007199254740993'.padEnd(39));
  });

  it.each([
    ['the counterparty', { counterparty: party, notes: 'Nota 5' }, 'JOAO & FILHOS'],
    ['the notes', { notes: 'Nota 5' }, 'NOTA 5'],
    ['the type', {}, 'CREDIT_PIX'],
  ])('has %s as history', (_, line, history) =>
    expect(at(records([line])[2], 177, 201)).toBe(history.padEnd(25)),
  );

  it.each([
    ['endToEndId, with its small letters', { endToEndId, clientReference: 'order' }, endToEndId],
    ['client’s reference', { clientReference: 'order-7' }, 'order-7'],
    ['nsu where another id is too long', { clientReference: 'x'.repeat(40) }, '101'],
  ])('has the %s in the document field', (_, line, id) =>
    expect(at(records([line])[2], 202, 240)).toBe(id.padEnd(39)),
  );

  it.each([
    ['DEBIT_TARIFA', {}, '105'],
    ['DEBIT_OTHER', { classification: 'tariff' }, '105'],
    ['DEBIT_TAX', {}, '126'],
    ['DEBIT_BILL_PAYMENT', { billCode: '858'.padEnd(44, '0') }, '126'],
    ['DEBIT_BILL_PAYMENT', { billCode: '341'.padEnd(44, '0') }, '112'],
    ['DEBIT_IOF', {}, '110'],
    ['DEBIT_PIX', { classification: 'own_account_transfer' }, '117'],
  ])('has a debit of type %s, %j, in category %s', (typeName, line, category) =>
    expect(at(records([{ isCredit: false, typeName, ...line }])[2], 169, 172)).toBe(`D${category}`),
  );

  it('ends with the closing balance, the counts and the sums', () => {
    expect(at(batchTrailer, 4, 8)).toBe('00015');
    expect(at(batchTrailer, 89, 142)).toBe('0'.repeat(54));
    expect(at(batchTrailer, 143, 170)).toBe('31032026000000000000000099CF');
    expect(at(batchTrailer, 171, 212)).toBe(
      `000004${'1'.padStart(18, '0')}${'150'.padStart(18, '0')}`,
    );
    expect(at(fileTrailer, 4, 35)).toBe('99999         000001000006000001');
  });

  it('dates no balance after the day on which it was written', () => {
    const datesAt = (generatedAt: Date) => {
      const file = cnab240File({ account, period: { ...period, generatedAt }, fileNumber: 7 });
      const [header, trailer] = [file.head().slice(242), file.foot()];
      return [at(header, 143, 150), at(trailer, 143, 150)];
    };
    expect(datesAt(new Date('2026-03-15T12:00:00Z'))).toEqual(['28022026', '15032026']);
    expect(datesAt(new Date('2026-02-10T12:00:00Z'))).toEqual(['10022026', '10022026']);
  });

  it('starts another batch when one is full, with the closing balance of the last one', () => {
    const line = { amountCents: 100n };
    const all = records([line, line, line], 2);
    expect(all.map((record) => at(record, 4, 8))).toEqual([
      ...['00000', '00011', '00013', '00013', '00015'],
      ...['00021', '00023', '00025', '99999'],
    ]);
    expect(at(all[4], 151, 168)).toBe(at(all[5], 151, 168));
    expect(at(all[8], 18, 29)).toBe('000002000009');
  });

  it('has 240 ASCII characters in each record, whatever the text', () => {
    fc.assert(
      fc.property(anyText, fc.bigInt(0n, 10n ** 17n), (notes, amountCents) => {
        const counterparty = { ...exportedLine().counterparty, name: notes };
        const line = { notes, amountCents, clientReference: notes };
        for (const record of [...records([line]), ...records([{ counterparty }])])
          expect(record).toMatch(/^[\x20-\x7e]{240}$/);
      }),
    );
  });

  it('throws when an amount does not fit, and does not cut it', () => {
    expect(() => records([{ amountCents: 10n ** 18n }])).toThrow(RangeError);
  });
});
