// Converts a row of a table to a request. `payer.name` is a field of `payer`;
// `discount.items.0.date` is a field of the first item. Only amounts become numbers: the leading
// zeros of a document must not be lost.
import { LosslessNumber } from 'lossless-json';
import { fieldError, type FieldError } from '../../bank-contract/field-errors.js';
import { withoutCase } from '../../bank-contract/wire.js';
import type { ColumnField } from './column-mapping.js';
import { readCell, type CellStyle, type Cell } from './spreadsheet-cell.js';

type Node = Record<string, unknown>;

/** A column of the file, as the field of the request that its cells hold. */
export interface Column {
  /** The names of the objects around the field, the outermost first. */
  parents: readonly string[];
  field: string;
  isAmount: boolean;
  isDay: boolean;
  isTaxId: boolean;
  /** As the file names it, where it does not name the field. */
  label?: string;
}

/** The columns below it are texts of the metadata, whatever their names. */
const metadataField = 'metadata';
const segment = /^(?:[A-Za-z][A-Za-z0-9]{0,39}|\d{1,2})$/;
const maxDepth = 5;
const amountFields = new Set(['amount', 'amountfrom', 'amountto', 'tolerance']);

/** Why the header cannot be read; null when it can be read. */
export function headerProblem(header: readonly string[], line: number): FieldError | null {
  if (header.length === 0 || header.every((name) => name === ''))
    return fieldError('no_header', { line });
  const parents = new Set(header.flatMap(prefixes));
  const names = [...parents, ...new Set(header)];
  const isTwice = new Set(header).size < header.length;
  if (isTwice || new Set(names.map(withoutCase)).size < new Set(names).size)
    return fieldError('header_twice', { line });
  for (const [at, name] of header.entries()) {
    const parts = name.split('.');
    if (parts.length > maxDepth || !isFieldName(parts))
      return fieldError('header_field', { line, column: at + 1 });
    if (parents.has(name)) return fieldError('header_parent', { line, column: at + 1 });
  }
  return null;
}

/** The columns of a header without a problem. */
export function readColumns(header: readonly string[]): Column[] {
  return header.map((name) => {
    const parents = name.split('.');
    const field = parents.pop() ?? '';
    const isText = parents[0] === metadataField;
    const isAmount = !isText && amountFields.has(field.toLowerCase());
    const isDay = !isText && /^date(?:From|To)?$|Date$/.test(field);
    const isTaxId = !isText && /document$|taxId$/i.test(field);
    return { parents, field, isAmount, isDay, isTaxId };
  });
}

/** The columns of a foreign header; null for those that are not read. */
export function mappedColumns(
  fields: readonly (ColumnField | null)[],
  header: readonly Cell[],
): (Column | null)[] {
  return fields.map((field, at) => {
    if (field === null) return null;
    const [isAmount, isDay] = [field === 'amount', field === 'date'];
    const name = header[at];
    const label = typeof name === 'string' && name !== '' ? name : field;
    return { parents: [], field, isAmount, isDay, isTaxId: field === 'taxId', label };
  });
}

/** Observes the cells of a row, before the rows of the file are read. */
export function observeCells(
  columns: readonly (Column | null)[],
  cells: readonly Cell[],
  style: CellStyle,
): void {
  for (const [at, column] of columns.entries()) {
    const cell = cells[at];
    if (typeof cell !== 'string') continue;
    if (column?.isAmount) style.observe(cell);
    if (column?.isDay) style.observeDay(cell);
  }
}

/**
 * The request of a row, or why it cannot be read. Fields with an empty cell are left out. `style`
 * is how the file writes its amounts and days.
 */
export function toRequest(
  columns: readonly (Column | null)[],
  cells: readonly Cell[],
  style: CellStyle,
): { request: Node } | { problem: FieldError } {
  const request: Node = {};
  for (const [at, column] of columns.entries()) {
    const cell = cells[at] ?? '';
    if (column === null || cell === '') continue;
    const { parents, field, label = [...parents, field].join('.') } = column;
    const read = readCell(cell, column, style);
    if (read.problem !== undefined) return { problem: fieldError(read.problem, { field: label }) };
    let node = request;
    for (const parent of parents) node = childOf(node, parent);
    node[field] = read.value;
  }
  return { request: withLists(request) as Node };
}

/** A key of the metadata may have `_` and `-`. A point would begin another field. */
function isFieldName(parts: readonly string[]): boolean {
  const [first, key = ''] = parts;
  if (first === metadataField && parts.length === 2)
    return /^[A-Za-z0-9_-]{1,40}$/.test(key) && key !== '__proto__';
  return parts.every((part) => segment.test(part));
}

function prefixes(name: string): string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'));
}

function childOf(node: Node, name: string): Node {
  if (!Object.hasOwn(node, name)) node[name] = {};
  return node[name] as Node;
}

/** Converts objects whose field names are all numbers to lists; the metadata stays an object. */
function withLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return value;
  const fields = Object.entries(value).map(
    ([name, part]) => [name, name === metadataField ? part : withLists(part)] as const,
  );
  if (fields.length === 0 || !fields.every(([name]) => /^\d+$/.test(name)))
    return Object.fromEntries(fields);
  return fields.sort(([a], [b]) => Number(a) - Number(b)).map(([, part]) => part);
}
