// The columns of statement lines in CSV and XLSX.
import { statementDayOf } from '../brazil/statement-day.js';
import { breakKinds } from '../reconciliation/decide/break-kinds.js';
import { signedCents, type ExportedLine } from './exported-line.js';
import type { Table, TableColumn } from './table.js';

const directions = { credit: 'Crédito', debit: 'Débito' };

const states = {
  matched: 'Conciliado',
  classified: 'Classificado',
  in_break: 'Em divergência',
  pending: 'Pendente',
};

const categories = {
  before_go_live: 'Anterior ao início',
  fee: 'Tarifa',
  tariff: 'Tarifa',
  own_account_transfer: 'Transferência entre contas próprias',
  ignored: 'Ignorado',
  accepted: 'Aceito',
  refunded: 'Devolvido',
};

export const breakKindLabels: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(breakKinds).map(([kind, { name }]) => [kind, name]),
);

const money: TableColumn<ExportedLine>[] = [
  { name: 'date', title: 'Data', kind: 'day', value: (line) => statementDayOf(line.occurredAt) },
  {
    name: 'occurredAt',
    title: 'Data e hora',
    kind: 'instant',
    value: ({ occurredAt }) => occurredAt,
  },
  { name: 'nsu', title: 'NSU', kind: 'number', value: ({ nsu }) => nsu },
  { name: 'type', title: 'Tipo', kind: 'text', value: ({ typeName }) => typeName },
  {
    name: 'direction',
    title: 'Crédito ou débito',
    kind: 'text',
    value: ({ isCredit }) => (isCredit ? 'credit' : 'debit'),
    labels: directions,
  },
  { name: 'amount', title: 'Valor', kind: 'money', value: signedCents },
  {
    name: 'balance',
    title: 'Saldo',
    kind: 'money',
    value: ({ currentBalanceCents }) => currentBalanceCents,
  },
];

const stranger = (
  name: string,
  title: string,
  value: (line: ExportedLine) => string | null,
): TableColumn<ExportedLine> => ({ name, title, kind: 'stranger', value });

const text = (
  name: string,
  title: string,
  value: (line: ExportedLine) => string | null,
  labels?: Readonly<Record<string, string>>,
): TableColumn<ExportedLine> => ({ name, title, kind: 'text', value, labels });

export const statementTable: Table<ExportedLine> = {
  title: 'Extrato',
  columns: [
    ...money,
    stranger('counterpartyName', 'Contraparte', ({ counterparty }) => counterparty.name),
    text('counterpartyTaxId', 'CPF ou CNPJ', ({ counterparty }) => counterparty.taxId),
    text('counterpartyIspb', 'ISPB', ({ counterparty }) => counterparty.ispb),
    text('counterpartyBranch', 'Agência', ({ counterparty }) => counterparty.branch),
    text('counterpartyAccount', 'Conta', ({ counterparty }) => counterparty.account),
    text('clientReference', 'Referência', ({ clientReference }) => clientReference),
    text('correlationId', 'Correlation ID', ({ correlationId }) => correlationId),
    text('endToEndId', 'End-to-end ID', ({ endToEndId }) => endToEndId),
    text('externalId', 'External ID', ({ externalId }) => externalId),
    text('explanation', 'Situação', ({ state }) => state, states),
    text('rule', 'Regra', ({ rule }) => rule),
    text('category', 'Categoria', ({ category }) => category, categories),
    // No rule, classification or expected payment has a cost centre yet.
    text('costCentre', 'Centro de custo', () => null),
    text('breakKind', 'Divergência', ({ breakKind }) => breakKind, breakKindLabels),
    text('expectedPaymentIds', 'Pagamentos previstos', ({ expectedPaymentIds }) =>
      expectedPaymentIds.join(' '),
    ),
    stranger('notes', 'Descrição', ({ notes }) => notes),
  ],
};
