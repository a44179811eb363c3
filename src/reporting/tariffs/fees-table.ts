// The file of the fees about a month: what was charged of each line, what was agreed, and the rest.
import { overchargeOf, type CheckedFee } from '../../reconciliation/decide/fee-check.js';
import { textColumn, type Table } from '../exports/table.js';

/** What people read of a kind of tariff. */
export const tariffNames = {
  pix_received: 'Pix recebido',
  slip_received: 'Boleto recebido',
  pix_sent: 'Pix enviado',
  transfer_sent: 'Transferência enviada',
  bill_paid: 'Conta paga',
  pix_refund: 'Devolução de Pix',
  package: 'Pacote mensal',
} as const satisfies Record<NonNullable<CheckedFee['kind']>, string>;

const states = {
  explained: 'Conforme a tabela',
  mismatch: 'Divergente',
  waiting: 'Período em aberto',
  unpriced: 'Sem tabela',
} as const satisfies Record<CheckedFee['state'], string>;

export const feesTable: Table<CheckedFee> = {
  title: 'Tarifas',
  columns: [
    { name: 'nsu', title: 'NSU', kind: 'number', value: ({ nsu }) => nsu },
    { name: 'date', title: 'Data', kind: 'day', value: ({ day }) => day },
    textColumn('tariff', 'Tarifa', ({ kind }) => kind, tariffNames),
    textColumn('period', 'Período', ({ period }) => period),
    textColumn('state', 'Situação', ({ state }) => state, states),
    { name: 'charged', title: 'Cobrado', kind: 'money', value: (fee) => fee.chargedCents },
    { name: 'expected', title: 'Contratado', kind: 'money', value: (fee) => fee.expectedCents },
    {
      ...{ name: 'overcharge', title: 'Cobrado a mais', kind: 'money' },
      value: (fee) => (fee.expectedCents === null ? null : overchargeOf(fee)),
    },
  ],
};
