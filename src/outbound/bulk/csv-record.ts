// Converts a row of a table to a request. `payer.name` is a field of `payer`;
// `discount.items.0.date` is a field of the first item. Only amounts become numbers: the leading
// zeros of a document must not be lost.
import { LosslessNumber } from 'lossless-json';
import { fieldError, type FieldError } from '../../bank-contract/field-errors.js';
import { withoutCase } from '../../bank-contract/wire.js';
import { readCell, type AmountStyle, type Cell } from './spreadsheet-cell.js';

type Node = Record<string, unknown>;

/** A column of the file, as the field of the request that its cells hold. */
export interface Column {
  /** The names of the objects around the field, the outermost first. */
  parents: readonly string[];
  field: string;
  isAmount: boolean;
  isDay: boolean;
  isTaxId: boolean;
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

/** Observes the amounts of a row, before the rows of the file are read. */
export function observeAmounts(
  columns: readonly Column[],
  cells: readonly Cell[],
  style: AmountStyle,
): void {
  for (const [at, { isAmount }] of columns.entries()) {
    const cell = cells[at];
    if (isAmount && typeof cell === 'string') style.observe(cell);
  }
}

/**
 * The request of a row, or why it cannot be read. Fields with an empty cell are left out. `style`
 * is how the file writes its amounts.
 */
export function toRequest(
  columns: readonly Column[],
  cells: readonly Cell[],
  style: AmountStyle,
): { request: Node } | { problem: string } {
  const request: Node = {};
  for (const [at, column] of columns.entries()) {
    const { parents, field } = column;
    const cell = cells[at] ?? '';
    if (cell === '') continue;
    const read = readCell(cell, column, style);
    if ('problem' in read) return { problem: `${[...parents, field].join('.')} ${read.problem}` };
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
