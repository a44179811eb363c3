// Converts a row of a table to a request. `payer.name` is a field of `payer`;
// `discount.items.0.date` is a field of the first item. Only amounts become numbers: the leading
// zeros of a document must not be lost.
import { LosslessNumber } from 'lossless-json';
import { readDay, type AmountStyle } from './spreadsheet-cell.js';

type Node = Record<string, unknown>;

/** A column of the file, as the field of the request that its cells hold. */
export interface Column {
  /** The names of the objects around the field, the outermost first. */
  parents: readonly string[];
  field: string;
  isAmount: boolean;
  isDay: boolean;
}

/** The columns below it are texts of the metadata, whatever their names. */
const metadataField = 'metadata';
const segment = /^(?:[A-Za-z][A-Za-z0-9]{0,39}|\d{1,2})$/;
const maxDepth = 5;
const amountFields = new Set(['amount', 'amountfrom', 'amountto', 'tolerance']);

/** Why the header cannot be read; null when it can be read. */
export function headerProblem(header: readonly string[]): string | null {
  if (header.length === 0 || header.every((name) => name === ''))
    return 'The file has no header row.';
  if (new Set(header).size < header.length) return 'The header must not name a field twice.';
  const parents = new Set(header.flatMap(prefixes));
  for (const [at, name] of header.entries()) {
    const parts = name.split('.');
    if (parts.length > maxDepth || !isFieldName(parts))
      return `Column ${at + 1} of the header is not a valid field name.`;
    if (parents.has(name))
      return `Column ${at + 1} of the header names a field that also has subfields.`;
  }
  return null;
}

/** The columns of a header without a problem. */
export function readColumns(header: readonly string[]): Column[] {
  return header.map((name) => {
    const parents = name.split('.');
    const field = parents.pop() ?? '';
    const isAmount = amountFields.has(field.toLowerCase()) && parents[0] !== metadataField;
    const isDay = /^date(?:From|To)?$|Date$/.test(field) && parents[0] !== metadataField;
    return { parents, field, isAmount, isDay };
  });
}

/** Observes the amounts of a row, before the rows of the file are read. */
export function observeAmounts(
  columns: readonly Column[],
  cells: readonly string[],
  style: AmountStyle,
): void {
  for (const [at, { isAmount }] of columns.entries()) if (isAmount) style.observe(cells[at] ?? '');
}

/**
 * The request of a row, or why it cannot be read. Fields with an empty cell are left out. `style` is
 * how the file writes its amounts.
 */
export function toRequest(
  columns: readonly Column[],
  cells: readonly string[],
  style: AmountStyle,
): { request: Node } | { problem: string } {
  const request: Node = {};
  for (const [at, column] of columns.entries()) {
    const { parents, field, isAmount, isDay } = column;
    const cell = cells[at] ?? '';
    if (cell === '') continue;
    const value = isAmount ? style.read(cell) : isDay ? readDay(cell) : cell;
    if (value === null) return { problem: ambiguousAmount([...parents, field].join('.')) };
    let node = request;
    for (const parent of parents) node = childOf(node, parent);
    node[field] = value;
  }
  return { request: withLists(request) as Node };
}

function ambiguousAmount(field: string): string {
  return (
    `${field} has one point and three digits after it, which may be thousands or decimals. ` +
    'Write the cents: 1.234,00 or 1234.00.'
  );
}

/** A key of the metadata may have `_` and `-`. A point would begin another field. */
function isFieldName(parts: readonly string[]): boolean {
  const [first, key = ''] = parts;
  if (first === metadataField && parts.length === 2) return /^[A-Za-z0-9_-]{1,40}$/.test(key);
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

/** Converts objects whose field names are all numbers to lists. */
function withLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return value;
  const fields = Object.entries(value).map(([name, part]) => [name, withLists(part)] as const);
  if (fields.length === 0 || !fields.every(([name]) => /^\d+$/.test(name)))
    return Object.fromEntries(fields);
  return fields.sort(([a], [b]) => Number(a) - Number(b)).map(([, part]) => part);
}
