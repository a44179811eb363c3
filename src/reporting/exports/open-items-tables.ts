// The columns of open breaks and of overdue expected payments in CSV and XLSX.
import { daysBetween, type PlainDate } from '../../brazil/calendar.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { Break, ExpectedPayment, StatementLine } from '../../generated/service/client.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import {
  severityOf,
  severityScale,
  type SeveritySteps,
} from '../../reconciliation/breaks/severity.js';
import {
  breakKindLabels,
  categoryLabels,
  directionLabels,
  metadataText,
} from './statement-table.js';
import {
  costCentreColumn,
  projectColumn,
  strangerColumn,
  textColumn,
  type Table,
  type TableColumn,
} from './table.js';

type LineOfBreak = Pick<StatementLine, 'occurredAt' | 'typeName' | 'endToEndId' | 'notes'>;

/** A break, with its line if it has one. The direction is of the line or the expected payment. */
export type ExportedBreak = Pick<
  Break,
  'id' | 'kind' | 'amountCents' | 'nsu' | 'expectedPaymentId'
> &
  (
    | (LineOfBreak & { isCredit: boolean })
    | ({ [Field in keyof LineOfBreak]: null } & { isCredit: boolean | null })
  ) & {
    openedDay: PlainDate;
    /** Of the expected payment, in place of the day of a line. */
    dueDate: PlainDate | null;
    /** Of the line, or of the expected payment of a break without a line. */
    counterparty: Counterparty;
    clientReference: string | null;
    /** Of the line’s classification, or of the payment that another system declared. */
    category: string | null;
    costCentre: string | null;
    project: string | null;
    metadata: Metadata | null;
  };

/** What the business system calls the payment. */
const ownColumn: TableColumn<{ metadata: Metadata | null }> = strangerColumn(
  'metadata',
  'Metadados',
  ({ metadata }) => (metadata ? metadataText([metadata]) : null),
);

const severityLabels = { low: 'Baixa', medium: 'Média', high: 'Alta', critical: 'Crítica' };

/** Ages are as of `today`, a day at the bank. */
export function openBreaksTable(today: PlainDate, steps: SeveritySteps): Table<ExportedBreak> {
  const scale = severityScale(steps, today);
  return {
    title: 'Divergências em aberto',
    columns: [
      textColumn('kind', 'Divergência', ({ kind }) => kind, breakKindLabels),
      textColumn('severity', 'Gravidade', (row) => severityOf(row, scale), severityLabels),
      { name: 'openedDay', title: 'Desde', kind: 'day', value: ({ openedDay }) => openedDay },
      {
        ...{ name: 'ageDays', title: 'Dias em aberto', kind: 'number' },
        value: ({ openedDay }) => BigInt(daysBetween(openedDay, today)),
      },
      { name: 'amount', title: 'Valor', kind: 'money', value: ({ amountCents }) => amountCents },
      {
        ...{ name: 'date', title: 'Data do lançamento', kind: 'day' },
        value: ({ occurredAt }) => (occurredAt === null ? null : statementDayOf(occurredAt)),
      },
      { name: 'nsu', title: 'NSU', kind: 'number', value: ({ nsu }) => nsu },
      textColumn('type', 'Tipo', ({ typeName }) => typeName),
      textColumn('direction', 'Crédito ou débito', directionOf, directionLabels),
      ...counterpartyColumns(),
      textColumn('clientReference', 'Referência', ({ clientReference }) => clientReference),
      textColumn('endToEndId', 'End-to-end ID', ({ endToEndId }) => endToEndId),
      strangerColumn('category', 'Categoria', ({ category }) => category, categoryLabels),
      costCentreColumn(({ costCentre }) => costCentre),
      projectColumn(({ project }) => project),
      textColumn('expectedPaymentId', 'Pagamento previsto', (row) => row.expectedPaymentId),
      textColumn('id', 'Divergência (ID)', ({ id }) => id),
      ownColumn,
      strangerColumn('notes', 'Descrição', ({ notes }) => notes),
    ],
  };
}

export type OverduePayment = Pick<
  ExpectedPayment,
  | ('id' | 'operationId' | 'kind' | 'isCredit' | 'amountCents' | 'dueDate')
  | ('category' | 'costCentre' | 'project')
> & {
  lastPaymentDay: PlainDate;
  clientReference: string | null;
  metadata: Metadata | null;
  /** As the charge, the transfer or whoever declared the payment names it. */
  counterparty: Counterparty;
};

/** By the kind of the operation. */
const paymentKindLabels = {
  create_charge: 'Cobrança',
  create_static_qr: 'QR Code estático',
  create_transfer: 'Transferência',
  create_transfer_batch: 'Lote de transferências',
  create_ted: 'TED',
  pay_bill: 'Pagamento de conta',
  refund_pix: 'Devolução',
  declared: 'Previsto por outro sistema',
};

export function overduePaymentsTable(today: PlainDate): Table<OverduePayment> {
  return {
    title: 'Pagamentos previstos vencidos',
    columns: [
      textColumn('kind', 'Origem', ({ kind }) => kind, paymentKindLabels),
      textColumn('direction', 'Crédito ou débito', directionOf, directionLabels),
      { name: 'amount', title: 'Valor', kind: 'money', value: ({ amountCents }) => amountCents },
      { name: 'dueDate', title: 'Vencimento', kind: 'day', value: ({ dueDate }) => dueDate },
      {
        ...{ name: 'lastPaymentDay', title: 'Último dia de pagamento', kind: 'day' },
        value: ({ lastPaymentDay }) => lastPaymentDay,
      },
      {
        ...{ name: 'ageDays', title: 'Dias de atraso', kind: 'number' },
        value: ({ lastPaymentDay }) => BigInt(daysBetween(lastPaymentDay, today)),
      },
      ...counterpartyColumns(),
      textColumn('clientReference', 'Referência', ({ clientReference }) => clientReference),
      strangerColumn('category', 'Categoria', ({ category }) => category),
      costCentreColumn(({ costCentre }) => costCentre),
      projectColumn(({ project }) => project),
      textColumn('id', 'Pagamento previsto', ({ id }) => id),
      ownColumn,
      textColumn('operationId', 'Operação', ({ operationId }) => operationId),
    ],
  };
}

function counterpartyColumns<Row extends { counterparty: Counterparty }>(): TableColumn<Row>[] {
  return [
    strangerColumn('counterpartyName', 'Contraparte', ({ counterparty }) => counterparty.name),
    textColumn('counterpartyTaxId', 'CPF ou CNPJ', ({ counterparty }) => counterparty.taxId),
  ];
}

function directionOf({ isCredit }: { isCredit: boolean | null }): string | null {
  if (isCredit === null) return null;
  return isCredit ? 'credit' : 'debit';
}
