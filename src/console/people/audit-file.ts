// The rows of the audit as files: CSV for spreadsheets, NDJSON for programs.
import { csvFile } from '../../reporting/exports/csv-file.js';
import { strangerColumn, textColumn, type Table } from '../../reporting/exports/table.js';
import type { AuditedEntry } from '../../access/people/audit.service.js';

const table: Table<AuditedEntry> = {
  title: 'Auditoria',
  columns: [
    textColumn('id', 'Id', ({ id }) => id),
    { name: 'at', title: 'Quando', kind: 'instant', value: ({ at }) => at },
    textColumn('operatorId', 'Pessoa', ({ operatorId }) => operatorId),
    strangerColumn('person', 'E-mail', ({ person }) => person),
    textColumn('account', 'Conta', ({ slug }) => slug),
    textColumn('action', 'Ação', ({ action }) => action),
    strangerColumn('subject', 'Sobre', ({ subject }) => subject),
    strangerColumn('reason', 'Motivo', ({ reason }) => reason),
    strangerColumn('shown', 'O que via', ({ shown }) => shown),
    textColumn('traceId', 'Rastro', ({ traceId }) => traceId),
  ],
};
const csv = csvFile(table, 'comma');

export const auditCsvHeader = csv.head();
export const toCsvRow = (entry: AuditedEntry): string => csv.row(entry);

export function toNdjsonRow(entry: AuditedEntry): string {
  const { id, at, operatorId, person, slug, action, subject, reason, shown, traceId } = entry;
  const row = {
    id,
    at,
    operatorId,
    person,
    account: slug,
    action,
    subject,
    reason,
    shown,
    traceId,
  };
  return `${JSON.stringify(row)}\n`;
}
