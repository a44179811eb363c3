import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { MatchedPart } from '../../reconciliation/decide/line-coding.js';
import { csvFile } from '../exports/csv-file.js';
import { paymentPartKinds } from '../../statement/expected-payments/payment-parts.js';
import { fieldMessage } from '../../bank-contract/field-errors.js';
import { lineKinds } from '../exports/line-kind.js';
import { calimaFile } from './calima-file.js';
import { readChart } from './chart-file.js';
import {
  addToDay,
  fitsAll,
  journalOf,
  isPosting,
  moneyClassNames,
  sumsOfLine,
  type JournalLine,
  type Mapping,
  type MappingEntry,
  type PostingSum,
} from './journal.js';
import { journalTable } from './journal-table.js';

const bank = '1.1.1.02';
const line = (changes: Partial<JournalLine> = {}): JournalLine => ({
  ...{ nsu: 7n, occurredAt: new Date('2026-11-05T15:00:00Z'), isCredit: true, amountCents: 1_000n },
  ...{ state: 'matched', lineKind: 'transfer', classification: null, rule: null, manual: null },
  ...{ parts: [], ...changes },
});
const part = (amountCents: bigint, changes: Partial<MatchedPart> = {}): MatchedPart => ({
  ...{ amountCents, role: 'payment', paymentKind: 'declared', feeCents: 0n },
  ...{ withheld: [], rule: null, payment: null, ...changes },
});
const entry = (contraCode: string, changes: Partial<MappingEntry> = {}): MappingEntry => ({
  ...{ isCredit: null, lineKind: null, classification: null, category: null },
  ...{ contraCode, ...changes },
});
const mapping: Mapping = {
  bankCode: bank,
  entries: [
    entry('fees', { classification: 'fee' }),
    entry('refunds', { classification: 'refund' }),
    entry('own', { classification: 'own_account_transfer' }),
    entry('sales', { isCredit: true, category: 'Vendas' }),
  ],
};
const said = (of: JournalLine) => {
  const { state, parts } = journalOf(of, mapping)!;
  const sides = parts.map((one) => [one.debitCode, one.creditCode, one.amountCents]);
  return [state, ...sides];
};

describe('the entry of a line', () => {
  const sale = { payment: { category: 'vendas' } };

  it('has codes of their own for payments, refunds, fees and own transfers', () => {
    expect(said(line({ parts: [part(1_000n, sale)] }))).toEqual(['entry', [bank, 'sales', 1_000n]]);
    const debit = { isCredit: false };
    const refund = part(1_000n, { paymentKind: 'refund_pix' });
    expect(said(line({ ...debit, parts: [refund] }))).toEqual([
      ...['entry', ['refunds', bank, 1_000n]],
    ]);
    const returned = part(1_000n, { role: 'reversal' });
    expect(said(line({ ...debit, parts: [returned] }))[1]).toEqual(['refunds', bank, 1_000n]);
    const classified = { state: 'classified', ...debit };
    expect(said(line({ ...classified, classification: 'fee' }))[1]?.[0]).toBe('fees');
    const own = { state: 'classified', classification: 'own_account_transfer' };
    expect(said(line(own))[1]).toEqual([bank, 'own', 1_000n]);
  });

  it('splits over the payments of a line, and says what an acquirer kept as a fee', () => {
    const parts = [part(600n, sale), part(370n, { ...sale, feeCents: 30n })];
    expect(said(line({ amountCents: 970n, parts }))).toEqual([
      ...['entry', [bank, 'sales', 600n], [bank, 'sales', 400n], ['fees', bank, 30n]],
    ]);
  });

  it('enters gross what others withheld of, of receipts and of what we pay', () => {
    const withheld = [
      { kind: 'irrf', amountCents: 15n },
      { kind: 'fee', amountCents: 5n },
    ] as const;
    const all: Mapping = {
      ...mapping,
      entries: [
        entry('irrf', { classification: 'withheld_irrf' }),
        ...mapping.entries,
        entry('rest'),
      ],
    };
    const sides = (isCredit: boolean) =>
      journalOf(line({ isCredit, parts: [part(980n, { withheld })] }), all)!.parts.map((one) => [
        ...[one.debitCode, one.creditCode, one.amountCents, one.lineKind],
      ]);
    expect(sides(true)).toEqual([
      [bank, 'rest', 1_000n, 'transfer'],
      ['irrf', bank, 15n, 'income_tax'],
      ['fees', bank, 5n, 'fee'],
    ]);
    expect(sides(false).map(([debit, credit]) => [debit, credit])).toEqual([
      ...[
        ['rest', bank],
        [bank, 'irrf'],
        [bank, 'fees'],
      ],
    ]);
  });

  it('is open in a break, unmapped where one part fits nothing, and none before go-live', () => {
    for (const state of ['in_break', 'pending', null])
      expect(said(line({ state }))).toEqual(['open']);
    const parts = [part(600n, sale), part(400n)];
    expect(said(line({ parts }))).toEqual([
      ...['unmapped', [bank, 'sales', 600n], [null, null, 400n]],
    ]);
    expect(journalOf(line({ classification: 'before_go_live' }), mapping)).toBeNull();
    expect(journalOf(line(), null)?.state).toBe('unmapped');
  });

  it('uses the first entry that fits', () => {
    const entries = [entry('first', { lineKind: 'transfer' }), entry('second')];
    const { parts } = journalOf(line(), { bankCode: bank, entries })!;
    expect(parts[0]?.creditCode).toBe('first');
  });
});

const cents = fc.bigInt({ min: 1n, max: 1_000_000n });
const anyPart = fc.record({
  ...{ amountCents: cents, role: fc.constantFrom('payment', 'reversal') },
  paymentKind: fc.constantFrom('declared', 'refund_pix', 'create_charge'),
  feeCents: fc.oneof(fc.constant(0n), cents),
  withheld: fc.array(
    fc.record({ kind: fc.constantFrom(...paymentPartKinds), amountCents: cents }),
    { maxLength: 2 },
  ),
  ...{ rule: fc.constant(null), payment: fc.record({ category: fc.constantFrom('a', 'b', null) }) },
});
const anyLine = fc
  .record({
    parts: fc.array(anyPart, { maxLength: 4 }) as fc.Arbitrary<MatchedPart[]>,
    ...{ isCredit: fc.boolean(), amount: cents, lineKind: fc.constantFrom(...lineKinds) },
    state: fc.constantFrom('matched', 'classified', 'in_break', 'pending'),
    classification: fc.constantFrom(...moneyClassNames, 'before_go_live', null),
    day: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ parts, amount, day, ...one }) => {
    const sum = parts.reduce((total, { amountCents }) => total + amountCents, 0n);
    const occurredAt = new Date(`2026-11-0${day}T12:00:00Z`);
    return line({ ...one, parts, occurredAt, amountCents: parts.length > 0 ? sum : amount });
  });
const anyEntry = fc
  .record({
    isCredit: fc.option(fc.boolean()),
    lineKind: fc.option(fc.constantFrom(...lineKinds)),
    classification: fc.option(fc.constantFrom(...moneyClassNames)),
    category: fc.option(fc.constantFrom('a', 'b')),
    contraCode: fc.constantFrom('x', 'y', 'z'),
  })
  .map((one): MappingEntry => one);

it('balances every entry and day, and moves the bank account as the statement does', () => {
  const lines = fc.array(anyLine, { maxLength: 30 });
  fc.assert(
    fc.property(lines, fc.array(anyEntry, { maxLength: 6 }), (all, entries) => {
      const sums = new Map<string, PostingSum>();
      let netCents = 0n;
      for (const [index, one] of all.entries()) {
        const made = journalOf({ ...one, nsu: BigInt(index) }, { bankCode: bank, entries });
        if (made?.state !== 'entry') continue;
        netCents += one.isCredit ? one.amountCents : -one.amountCents;
        expect(made.parts.length).toBeGreaterThan(0);
        expect(made.parts.every(isPosting)).toBe(true);
        addToDay(sums, made);
      }
      const ofBank = (side: 'debitCode' | 'creditCode') =>
        [...sums.values()]
          .filter((sum) => sum[side] === bank)
          .reduce((total, { amountCents }) => total + amountCents, 0n);
      expect(ofBank('debitCode') - ofBank('creditCode')).toBe(netCents);
      for (const { amountCents, debitCode, creditCode } of sums.values()) {
        expect(amountCents).toBeGreaterThan(0n);
        expect([debitCode, creditCode].filter((code) => code === bank)).toHaveLength(1);
      }
    }),
  );
});

it('is written for a spreadsheet in Brazil', () => {
  const sale = { payment: { category: 'Vendas', costCentre: 'Loja 1' } };
  const made = journalOf(line({ parts: [part(123_456n, sale)] }), mapping)!;
  const file = csvFile(journalTable, 'people');
  expect(
    file.head() +
      sumsOfLine(made)
        .map((row) => file.row(row))
        .join(''),
  ).toBe(
    '\uFEFFData;Conta débito;Conta crédito;Valor;Histórico;Categoria;Centro de custo;Projeto;' +
      'Lançamentos;NSU;NSU final\r\n' +
      '05/11/2026;1.1.1.02;sales;1234,56;"Recebimento NSU 7";Vendas;"Loja 1";;1;7;7\r\n',
  );
});

it('is written in the columns of Calima, in ASCII, without what a reader may misread', () => {
  const rowsOf = (of: JournalLine) =>
    sumsOfLine(journalOf(of, mapping)!).map((row) => calimaFile.row(row));
  const sale = { payment: { category: 'Vendas', costCentre: '=Loja; "São João"' } };
  expect(rowsOf(line({ parts: [part(123_456n, sale)] }))).toEqual([
    '05/11/2026;1234,56;1.1.1.02;sales;;Recebimento NSU 7;;Loja Sao Joao\r\n',
  ]);
  const fee = { isCredit: false, state: 'classified', classification: 'fee' } as const;
  const rule = { costCentre: 'Matriz' };
  expect(rowsOf(line({ ...fee, rule }))).toEqual([
    '05/11/2026;10,00;fees;1.1.1.02;;Tarifa NSU 7;Matriz;\r\n',
  ]);
});

it('leaves no money unmapped only with entries for all of both directions', () => {
  const all = (entries: MappingEntry[]) => fitsAll({ bankCode: bank, entries });
  const [inward, outward] = [entry('in', { isCredit: true }), entry('out', { isCredit: false })];
  expect([all([entry('rest')]), all([inward, outward])]).toEqual([true, true]);
  const narrow = [{ lineKind: 'fee' }, { classification: 'fee' }, { category: 'x' }] as const;
  for (const entries of [[], [inward], [outward, outward], narrow.map((one) => entry('n', one))])
    expect(all(entries)).toBe(false);
});

describe('a chart of accounts', () => {
  it('is read with headers in Portuguese or English, with ; or ,', () => {
    const rows = [
      { code: '1', name: 'Ativo', kind: 'asset', isPostable: false },
      { code: '3.1', name: 'Vendas, à vista', kind: 'revenue', isPostable: true },
    ];
    expect(
      readChart(
        '\uFEFFCódigo;Descrição;Natureza;Analítica\r\n1;Ativo;Ativo;N\r\n3.1;Vendas, à vista;Receita;S\r\n',
      ),
    ).toEqual({ rows });
    expect(
      readChart('code,name,kind,postable\n1,Ativo,asset,no\n3.1,"Vendas, à vista",revenue,\n'),
    ).toEqual({ rows });
  });

  it.each([
    ['codigo;nome\n1;x', ['No column gives: tipo.']],
    ['codigo;nome;tipo\n', ['The file has no rows.']],
    ['codigo;nome;tipo\n"1;x;ativo', [expect.stringContaining('read as CSV')]],
    [
      'Codigo;Nome;Tipo;Analitica\n1;x;ativo;\n;;;\n1;y;constructor;talvez\n2;;passivo;S',
      [
        'Line 4, column Codigo: the code stands there twice.',
        'Line 4, column Tipo: must be asset, liability, equity, revenue or expense.',
        'Line 4, column Analitica: must be yes or no.',
        'Line 5, column Nome: must have 1 to 200 characters.',
      ],
    ],
  ])('refuses %j with every line and column that is wrong', (text, errors) => {
    const read = readChart(text);
    expect('errors' in read && read.errors.map(fieldMessage)).toEqual(errors);
  });
});
