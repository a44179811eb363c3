// A table that is exported: the columns of its rows, from which CSV and XLSX files are written.
import type { PlainDate } from '../../brazil/calendar.js';

interface Head {
  /** In CSV, for programs. */
  name: string;
  /** In XLSX, for people: Portuguese. */
  title: string;
}

/** Text that a payer or another stranger may have written is `stranger` text. */
interface TextColumn<Row> extends Head {
  kind: 'text' | 'stranger';
  value: (row: Row) => string | null;
  /** What people read in place of the values of a closed list. */
  labels?: Readonly<Record<string, string>>;
}

export type TableColumn<Row> =
  | TextColumn<Row>
  /** Cents. */
  | (Head & { kind: 'money'; value: (row: Row) => bigint | null })
  /** A whole number. */
  | (Head & { kind: 'number'; value: (row: Row) => bigint | null })
  | (Head & { kind: 'day'; value: (row: Row) => PlainDate | null })
  | (Head & { kind: 'instant'; value: (row: Row) => Date | null });

export interface Table<Row> {
  /** The name of the sheet: Portuguese, at most 31 characters. */
  title: string;
  columns: readonly TableColumn<Row>[];
}

type ColumnParts<Row> = [name: string, title: string, value: TextColumn<Row>['value']];

/** A column of text, with what people read in place of the values of a closed list. */
export function textColumn<Row>(
  ...[name, title, value, labels]: [...ColumnParts<Row>, TextColumn<Row>['labels']?]
): TableColumn<Row> {
  return { name, title, kind: 'text', value, labels };
}

/** A column of text that a stranger may have written. */
export function strangerColumn<Row>(
  ...[name, title, value, labels]: [...ColumnParts<Row>, TextColumn<Row>['labels']?]
): TableColumn<Row> {
  return { name, title, kind: 'stranger', value, labels };
}

/** Of the expected payments that another system declared. */
export function costCentreColumn<Row>(value: TextColumn<Row>['value']): TableColumn<Row> {
  return strangerColumn('costCentre', 'Centro de custo', value);
}

export function projectColumn<Row>(value: TextColumn<Row>['value']): TableColumn<Row> {
  return strangerColumn('project', 'Projeto', value);
}
