// The file of a month's journal entries, for accountants: a row is an amount with its debit and its
// credit, of a line or of a day.
import {
  costCentreColumn,
  projectColumn,
  strangerColumn,
  textColumn,
  type Table,
} from '../exports/table.js';
import { moneyClasses, type PostingSum } from './journal.js';

export const journalTable: Table<PostingSum> = {
  title: 'Lançamentos contábeis',
  columns: [
    { name: 'date', title: 'Data', kind: 'day', value: ({ day }) => day },
    textColumn('debit', 'Conta débito', ({ debitCode }) => debitCode),
    textColumn('credit', 'Conta crédito', ({ creditCode }) => creditCode),
    { name: 'amount', title: 'Valor', kind: 'money', value: ({ amountCents }) => amountCents },
    textColumn('text', 'Histórico', historyOf),
    strangerColumn('category', 'Categoria', ({ category }) => category),
    costCentreColumn(({ costCentre }) => costCentre),
    projectColumn(({ project }) => project),
    { name: 'lines', title: 'Lançamentos', kind: 'number', value: ({ lines }) => BigInt(lines) },
    { name: 'firstNsu', title: 'NSU', kind: 'number', value: ({ firstNsu }) => firstNsu },
    { name: 'lastNsu', title: 'NSU final', kind: 'number', value: ({ lastNsu }) => lastNsu },
  ],
};

/** Nothing of a counterparty stands here: it may be erased. */
export function historyOf({ classification, isCredit, lines, firstNsu }: PostingSum): string {
  const what =
    classification === 'payment'
      ? isCredit
        ? 'Recebimento'
        : 'Pagamento'
      : moneyClasses[classification];
  return lines === 1 ? `${what} NSU ${firstNsu}` : `${what}: ${lines} lançamentos`;
}
