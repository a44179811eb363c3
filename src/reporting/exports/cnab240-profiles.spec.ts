// The files of test/golden/cnab240, which are read beside the manuals of the banks. A change of the
// writer shows there field by field.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { accountAtItau, exportedLine } from '../../../test/support/exported-lines.js';
import { cnab240File } from './cnab240-file.js';
import type { ExportedLine } from './exported-line.js';

const party = (name: string) => ({ ...exportedLine().counterparty, name });
const lines: Partial<ExportedLine>[] = [
  {
    ...{ nsu: 1n, amountCents: 150_000n, endToEndId: 'E99999999202603101504abcdefghijk' },
    ...{ counterparty: party('João & Filhos Ltda'), clientReference: 'pedido-7' },
  },
  { nsu: 2n, isCredit: false, typeName: 'DEBIT_TARIFA', amountCents: 150n },
  {
    ...{ nsu: 3n, isCredit: false, typeName: 'DEBIT_BILL_PAYMENT', amountCents: 20_000n },
    ...{ billCode: '858'.padEnd(44, '0'), notes: 'DARF março', clientReference: 'darf-03' },
  },
  {
    ...{ nsu: 4n, typeName: 'CREDIT_BANKSLIP', amountCents: 99n },
    occurredAt: new Date('2026-03-11T12:00:00Z'),
  },
];

const banks: [string, string, string][] = [
  ['001', '00000000', 'Banco do Brasil S.A.'],
  ['033', '90400888', 'Banco Santander (Brasil) S.A.'],
  ['104', '00360305', 'Caixa Econômica Federal'],
  ['237', '60746948', 'Banco Bradesco S.A.'],
  ['341', '60701190', 'Itaú Unibanco S.A.'],
  ['999', '99999999', 'Banco Sandbox S.A.'],
];

describe('a CNAB 240 file', () => {
  it.each(banks)('of bank %s has the constants of its golden file', (bankCode, ispb, bankName) => {
    const file = cnab240File({
      account: { ...accountAtItau, bankCode, ispb, bankName },
      fileNumber: 42,
      period: {
        ...{ from: '2026-03-01', to: '2026-03-31', openingCents: 1_000n, isPartial: false },
        generatedAt: new Date('2026-04-01T12:34:56Z'),
      },
    });
    const records = [file.head(), ...lines.map((line) => file.row(exportedLine(line)))];
    const golden = join(import.meta.dirname, '../../../test/golden/cnab240', `${bankCode}.ret`);
    expect([...records, file.foot()].join('')).toBe(readFileSync(golden, 'latin1'));
  });
});
