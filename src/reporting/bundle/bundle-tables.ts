// The tables of a bundle, for accountants: Portuguese titles and values, each amount with its sign.
import { isLineType, lineTypes } from '../../bank-contract/line-types.js';
import { daysBetween, type PlainDate } from '../../brazil/calendar.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { formatTaxId, parseTaxId } from '../../brazil/tax-id.js';
import type { Break } from '../../generated/service/client.js';
import type { ExportedLine } from '../exports/exported-line.js';
import { kindOfLine, type LineKind } from '../exports/line-kind.js';
import { ageOf } from '../exports/month-figures.js';
import { ageNames } from '../exports/month-sections.js';
import type { ExportedBreak, OverduePayment } from '../exports/open-items-tables.js';
import {
  breakKindLabels,
  categoryLabels,
  metadataText,
  statementTable,
} from '../exports/statement-table.js';
import {
  costCentreColumn,
  projectColumn,
  strangerColumn,
  textColumn,
  type Table,
  type TableColumn,
} from '../exports/table.js';

/** Of lines whose type is a code that nobody has named. */
const kindNames: Record<LineKind, string> = {
  reversal: 'Estorno ou devolução',
  fee: 'Tarifa',
  income_tax: 'Imposto de renda',
  financial_tax: 'IOF',
  tax: 'Tributo',
  bank_slip: 'Boleto',
  bill: 'Pagamento de conta',
  own_transfer: 'Transferência no mesmo banco',
  transfer: 'Transferência',
  other: 'Outro lançamento',
};

/** In the bank's own words, unless they are a code. */
function typeOf(line: ExportedLine): string {
  if (isLineType(line.typeName)) return lineTypes[line.typeName].name[0];
  return line.typeName.includes('_') ? kindNames[kindOfLine(line)] : line.typeName;
}

/** What only programs need. */
const leftOut = new Set([
  ...['rule', 'counterpartyIspb', 'counterpartyBranch', 'counterpartyAccount'],
  ...['correlationId', 'externalId', 'expectedPaymentIds'],
]);
const changed: Record<string, TableColumn<ExportedLine>> = {
  type: strangerColumn('type', 'Tipo', typeOf),
  counterpartyTaxId: taxIdColumn(),
  endToEndId: textColumn('endToEndId', 'Código do Pix (E2E)', ({ endToEndId }) => endToEndId),
};

export const accountantsStatement: Table<ExportedLine> = {
  title: 'Extrato',
  columns: statementTable.columns.flatMap((column) =>
    leftOut.has(column.name) ? [] : [changed[column.name] ?? column],
  ),
};

/** An open break, or an overdue payment without one. */
export type OpenItem = ExportedBreak | (OverduePayment & { notes: null });

const isBreak = (item: OpenItem): item is ExportedBreak => 'openedDay' in item;

/** By which it ages: the day of the line, or else the due day, or else the day of its opening. */
export function dayOfItem(item: OpenItem): PlainDate {
  if (!isBreak(item)) return item.lastPaymentDay;
  if (item.occurredAt !== null) return statementDayOf(item.occurredAt);
  return item.dueDate ?? item.openedDay;
}

const signed = (cents: bigint | null, isCredit: boolean | null) =>
  cents === null || isCredit !== false ? cents : -cents;

export function openItemsTable(today: PlainDate): Table<OpenItem> {
  return {
    title: 'Itens em aberto',
    columns: [
      textColumn('item', 'Item', (item) =>
        isBreak(item) ? (breakKindLabels[item.kind] ?? 'Divergência') : 'Pagamento vencido',
      ),
      { name: 'day', title: 'Data', kind: 'day', value: dayOfItem },
      textColumn(
        'age',
        'Faixa de idade',
        (item) => ageNames[ageOf(dayOfItem(item), today)] ?? null,
      ),
      {
        ...{ name: 'ageDays', title: 'Dias', kind: 'number' },
        value: (item) => BigInt(Math.max(0, daysBetween(dayOfItem(item), today))),
      },
      {
        ...{ name: 'amount', title: 'Valor', kind: 'money' },
        value: ({ amountCents, isCredit }) => signed(amountCents, isCredit),
      },
      {
        ...{ name: 'nsu', title: 'NSU', kind: 'number' },
        value: (item) => (isBreak(item) ? item.nsu : null),
      },
      strangerColumn('counterpartyName', 'Contraparte', ({ counterparty }) => counterparty.name),
      taxIdColumn(),
      strangerColumn('clientReference', 'Referência', ({ clientReference }) => clientReference),
      strangerColumn('category', 'Categoria', ({ category }) => category, categoryLabels),
      costCentreColumn(({ costCentre }) => costCentre),
      projectColumn(({ project }) => project),
      strangerColumn('metadata', 'Metadados', ({ metadata }) =>
        metadata ? metadataText([metadata]) : null,
      ),
      strangerColumn('notes', 'Descrição', ({ notes }) => notes),
    ],
  };
}

/** A break of the month, open or resolved, with what happened to it. */
export type BreakWithHistory = Pick<
  Break,
  | ('kind' | 'state' | 'nsu' | 'amountCents' | 'openedAt' | 'resolvedAt')
  | ('resolution' | 'resolutionReason')
> & {
  id: string;
  day: PlainDate;
  isCredit: boolean | null;
  /** How often its state or amount changed after it was opened, and when last. */
  changes: bigint;
  changedAt: Date | null;
  comments: bigint;
  resolvedBy: string | null;
};

const resolutions = {
  automatic: 'A causa deixou de existir',
  link: 'Conciliada por uma pessoa',
  accept: 'Aceita',
  refund: 'Devolvida',
};

export const breakStoriesTable: Table<BreakWithHistory> = {
  title: 'Divergências do mês',
  columns: [
    textColumn('kind', 'Divergência', ({ kind }) => breakKindLabels[kind] ?? 'Divergência'),
    textColumn('state', 'Situação', ({ state }) => state, {
      ...{ open: 'Em aberto', resolved: 'Resolvida' },
    }),
    { name: 'day', title: 'Data', kind: 'day', value: ({ day }) => day },
    { name: 'nsu', title: 'NSU', kind: 'number', value: ({ nsu }) => nsu },
    {
      ...{ name: 'amount', title: 'Valor', kind: 'money' },
      value: ({ amountCents, isCredit }) => signed(amountCents, isCredit),
    },
    { name: 'openedAt', title: 'Aberta em', kind: 'instant', value: ({ openedAt }) => openedAt },
    { name: 'changes', title: 'Mudanças', kind: 'number', value: ({ changes }) => changes },
    {
      ...{ name: 'changedAt', title: 'Última mudança', kind: 'instant' },
      value: ({ changedAt }) => changedAt,
    },
    { name: 'comments', title: 'Comentários', kind: 'number', value: ({ comments }) => comments },
    textColumn('resolution', 'Como foi resolvida', ({ resolution }) => resolution, resolutions),
    strangerColumn('resolvedBy', 'Decidida por', ({ resolvedBy }) => resolvedBy),
    {
      ...{ name: 'resolvedAt', title: 'Decidida em', kind: 'instant' },
      value: ({ resolvedAt }) => resolvedAt,
    },
    strangerColumn('reason', 'Motivo', ({ resolutionReason }) => resolutionReason),
    textColumn('id', 'Identificador', ({ id }) => id),
  ],
};

/** With its punctuation: a spreadsheet would read the digits as a number. */
function taxIdColumn<Row extends Pick<ExportedLine, 'counterparty'>>(): TableColumn<Row> {
  return textColumn('counterpartyTaxId', 'CPF ou CNPJ', ({ counterparty: { taxId } }) => {
    const parsed = taxId === null ? null : parseTaxId(taxId);
    return parsed ? formatTaxId(parsed) : taxId;
  });
}
