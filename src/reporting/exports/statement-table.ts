// The columns of statement lines in CSV and XLSX.
import { statementDayOf } from '../../brazil/statement-day.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { signedCents, type ExportedLine } from './exported-line.js';
import {
  costCentreColumn,
  projectColumn,
  strangerColumn,
  textColumn,
  type Table,
  type TableColumn,
} from './table.js';

export const directionLabels = { credit: 'Crédito', debit: 'Débito' };

const states = {
  matched: 'Conciliado',
  classified: 'Classificado',
  in_break: 'Em divergência',
  pending: 'Pendente',
};

export const categoryLabels = {
  before_go_live: 'Anterior ao início',
  fee: 'Tarifa',
  tariff: 'Tarifa',
  own_account_transfer: 'Transferência entre contas próprias',
  ignored: 'Ignorado',
  accepted: 'Aceito',
  refunded: 'Devolvido',
};

export const breakKindLabels: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(breakKinds).map(
    ([
      kind,
      {
        name: [pt],
      },
    ]) => [kind, pt],
  ),
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
    labels: directionLabels,
  },
  { name: 'amount', title: 'Valor', kind: 'money', value: signedCents },
  {
    name: 'balance',
    title: 'Saldo',
    kind: 'money',
    value: ({ currentBalanceCents }) => currentBalanceCents,
  },
];

/** `orderId=123; shop=7`. Texts that are not the same for all payments stand one after another. */
export function metadataText(metadata: readonly Metadata[]): string {
  const texts = metadata.flatMap((one) =>
    Object.entries(one)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `${key}=${value}`),
  );
  return [...new Set(texts)].join('; ');
}

export const statementTable: Table<ExportedLine> = {
  title: 'Extrato',
  columns: [
    ...money,
    strangerColumn('counterpartyName', 'Contraparte', ({ counterparty }) => counterparty.name),
    textColumn('counterpartyTaxId', 'CPF ou CNPJ', ({ counterparty }) => counterparty.taxId),
    textColumn('counterpartyIspb', 'ISPB', ({ counterparty }) => counterparty.ispb),
    textColumn('counterpartyBranch', 'Agência', ({ counterparty }) => counterparty.branch),
    textColumn('counterpartyAccount', 'Conta', ({ counterparty }) => counterparty.account),
    textColumn('clientReference', 'Referência', ({ clientReference }) => clientReference),
    textColumn('correlationId', 'Correlation ID', ({ correlationId }) => correlationId),
    textColumn('endToEndId', 'End-to-end ID', ({ endToEndId }) => endToEndId),
    textColumn('externalId', 'External ID', ({ externalId }) => externalId),
    textColumn('explanation', 'Situação', ({ state }) => state, states),
    textColumn('rule', 'Regra', ({ rule }) => rule),
    strangerColumn('category', 'Categoria', ({ coding }) => coding.category, categoryLabels),
    costCentreColumn(({ coding }) => coding.costCentre),
    projectColumn(({ coding }) => coding.project),
    textColumn('breakKind', 'Divergência', ({ breakKind }) => breakKind, breakKindLabels),
    textColumn('expectedPaymentIds', 'Pagamentos previstos', ({ expectedPaymentIds }) =>
      expectedPaymentIds.join(' '),
    ),
    { name: 'fee', title: 'Taxa', kind: 'money', value: ({ feeCents }) => feeCents },
    strangerColumn('metadata', 'Metadados', ({ metadata }) => metadataText(metadata)),
    strangerColumn('message', 'Mensagem do pagador', ({ counterparty }) => counterparty.message),
    strangerColumn('notes', 'Descrição', ({ notes }) => notes),
  ],
};
