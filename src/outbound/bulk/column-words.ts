// Guesses what the columns of a foreign table are: by the words of its headers, in Portuguese and
// English, and by all of its values. A person sees each guess before it counts.
import { parsePixKey } from '../../brazil/pix-key.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import type { ColumnField, MappingTarget } from './column-mapping.js';
import { CellStyle, isAmountText, isDayText, plainWords, type Cell } from './spreadsheet-cell.js';

/** What the values of a column are. */
export const columnTypes = [
  ...(['amount', 'day', 'taxId', 'pixKey', 'bank', 'branch', 'account', 'name', 'text'] as const),
] as const;
export type ColumnType = (typeof columnTypes)[number];

const maxHeaderLength = 100;

/** The headers as they are compared: in any order, with or without accents and points. */
export const plainHeaders = (headers: readonly string[]): string[] =>
  headerOrder(headers).map((at) => plainWords(headers[at] ?? ''));

/** Places of the headers in the order by which a set of them is the same in any file. */
export function headerOrder(headers: readonly string[]): number[] {
  const words = headers.map(plainWords);
  const places = words.map((_, at) => at);
  return places.sort((a, b) => {
    const [one = '', other = ''] = [words[a], words[b]];
    return one === other ? a - b : one < other ? -1 : 1;
  });
}

const isEmpty = (cell: Cell) => typeof cell === 'string' && cell.trim() === '';
const filled = (cells: readonly Cell[]) => cells.filter((cell) => !isEmpty(cell));

/** A word, and no value of a person or a payment: those must not become a header. */
function isHeaderText(cell: Cell): boolean {
  if (typeof cell !== 'string' || cell.length > maxHeaderLength) return false;
  const text = cell.trim();
  const isValue = isAmountText(text) || isDayText(text) || parsePixKey(text) !== null;
  return !isValue && (/\p{L}/u.test(text) || !/\d/.test(text));
}

/**
 * The place of the header among the first rows: titles above it fill fewer cells. Null where none
 * of the rows is one.
 */
export function findHeader(rows: readonly (readonly Cell[])[]): number | null {
  const widest = Math.max(0, ...rows.map((cells) => filled(cells).length));
  const at = rows.findIndex((cells) => {
    const named = filled(cells);
    return named.length >= Math.max(2, widest / 2) && named.every(isHeaderText);
  });
  return at === -1 ? null : at;
}

/** What the cells of a column look like, counted over all of its rows. */
export class ColumnValues {
  readonly samples: string[] = [];
  readonly style = new CellStyle();
  private cells = 0;
  private readonly like = { amount: 0, day: 0, taxId: 0, pixKey: 0, decimal: 0 };

  constructor(private readonly mostSamples: number) {}

  add(cell: Cell): void {
    if (isEmpty(cell)) return;
    const text = textOfCell(cell).trim();
    const { like } = this;
    this.cells += 1;
    if (this.samples.length < this.mostSamples) this.samples.push(text.slice(0, 60));
    if (typeof cell !== 'string') {
      if ('day' in cell) like.day += 1;
      if (!('number' in cell)) return;
      like.amount += 1;
      if (text.includes('.')) like.decimal += 1;
      if (text.length >= 9 && parseTaxId(text.padStart(text.length > 11 ? 14 : 11, '0')))
        like.taxId += 1;
      return;
    }
    this.style.observe(cell);
    this.style.observeDay(cell);
    if (isDayText(text)) like.day += 1;
    if (parseTaxId(text)) like.taxId += 1;
    if (/[@+]|-.*-.*-.*-/.test(text) && parsePixKey(text)) like.pixKey += 1;
    if (!isAmountText(text)) return;
    like.amount += 1;
    if (/[.,]/.test(text)) like.decimal += 1;
  }

  /** Whether nearly all cells can be values of the type. A column without cells can be anything. */
  canBe(type: ColumnType): boolean {
    if (type !== 'amount' && type !== 'day' && type !== 'taxId') return true;
    return this.like[type] >= 0.8 * this.cells;
  }

  /** The type that the values alone show. */
  get type(): ColumnType {
    if (this.cells === 0) return 'text';
    const { like } = this;
    const found = (['day', 'taxId', 'pixKey'] as const).find(
      (type) => like[type] >= 0.8 * this.cells,
    );
    if (found) return found;
    return this.canBe('amount') && like.decimal > 0 ? 'amount' : 'text';
  }
}

export const textOfCell = (cell: Cell): string =>
  typeof cell === 'string' ? cell : (Object.values(cell)[0] ?? '');

const typeOfField: Readonly<Record<ColumnField, ColumnType>> = {
  ...{ amount: 'amount', name: 'name', taxId: 'taxId', key: 'pixKey', bank: 'bank' },
  ...{ branch: 'branch', account: 'account', accountDigit: 'account', accountType: 'text' },
  ...{ date: 'day', description: 'text', category: 'text', costCentre: 'text', id: 'text' },
};

/** The first that fits counts: `Tipo de conta` is no account, and `Nome do banco` no name. */
const headerWords: readonly (readonly [ColumnField | null, RegExp])[] = [
  ['accountType', /\btipo (de |da )?conta\b|\baccount type\b/],
  [null, /\b(tipo|type|status|situacao|digito (da )?ag\w*|dv ag\w*)\b/],
  ['key', /\b(pix|chave)\b/],
  ['taxId', /\b(cpf|cnpj|cpfcnpj|tax id|documento|doc)\b/],
  ['amount', /\b(valor|quantia|montante|liquido|amount|total|value)\b/],
  ['branch', /\b(agencia|ag|branch)\b/],
  ['bank', /\b(banco|bank|ispb|instituicao)\b/],
  ['accountDigit', /\b(digito|dv)\b/],
  ['account', /\b(conta|account|cc)\b/],
  ['costCentre', /\b(centro de custos?|cost cent\w+)\b/],
  ['category', /\b(categoria|category|natureza)\b/],
  ['id', /\b(identificacao|identificador|id|referencia|reference|seu numero|external id)\b/],
  ['date', /\b(data|vencimento|vcto|venc|date|due|dia)\b/],
  ['description', /\b(historico|descricao|description|memo|obs\w*|mensagem|finalidade|motivo)\b/],
  [
    'name',
    /\b(favorecid\w+|beneficiari\w+|nome|razao social|fornecedor\w*|recebedor\w*|clientes?|pagador\w*|sacado|funcionari\w+|colaborador\w*|name|payee|payer|supplier|vendor|customer)\b/,
  ],
];

export interface GuessedColumn {
  type: ColumnType;
  field: ColumnField | null;
}

/** Each field is that of one column: the first by its header, else the first by its values. */
export function guessColumns(
  headers: readonly string[],
  values: readonly ColumnValues[],
): GuessedColumn[] {
  const taken = new Set<ColumnField>();
  const take = (field: ColumnField | null) => {
    if (field === null || taken.has(field)) return null;
    taken.add(field);
    return field;
  };
  const named = headers.map((header, at) => {
    const words = plainWords(header);
    const field = headerWords.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
    return field !== null && values[at]?.canBe(typeOfField[field]) ? field : null;
  });
  const byHeader = named.map(take);
  return byHeader.map((field, at) => {
    const shown = values[at]?.type ?? 'text';
    const known = field ?? named[at] ?? null;
    if (known !== null) return { type: typeOfField[known], field };
    const typed = (Object.entries(fieldOfType) as [ColumnType, ColumnField][]).find(
      ([type]) => type === shown,
    )?.[1];
    return { type: shown, field: take(typed ?? null) };
  });
}

/** By values alone: a text may be anything. */
const fieldOfType = { amount: 'amount', taxId: 'taxId', pixKey: 'key', day: 'date' } as const;

/** What the rows ask for, where the columns show it. */
export function guessTarget(
  headers: readonly string[],
  fields: readonly (ColumnField | null)[],
): MappingTarget | null {
  if (fields.includes('key') || (fields.includes('bank') && fields.includes('account')))
    return 'transfers';
  if (!fields.includes('date')) return null;
  const words = headers.map(plainWords).join(' ');
  const isIn = /\b(clientes?|pagador\w*|sacado|receber|recebimento|customer|payer)\b/.test(words);
  const isOut = /\b(fornecedor\w*|favorecid\w+|pagar|supplier|vendor|payee)\b/.test(words);
  return isIn === isOut ? null : isIn ? 'receivables' : 'payables';
}

/** The kind of a file whose columns are named as the API names its fields; null for another. */
export function kindOfOwnNames(
  names: readonly string[],
): 'charges' | 'transfers' | 'expected_payments' | null {
  const own = new Set(names.map((name) => name.toLowerCase()));
  const hasId = own.has('externalid') || own.has('idempotencykey');
  if (own.has('correlationid') && own.has('amount')) return 'charges';
  if (own.has('direction') && own.has('externalid')) return 'expected_payments';
  const isPaid = [...own].some((name) =>
    /^(key|beneficiaryaccount|endtoendid|beneficiary(\..+)?)$/.test(name),
  );
  return isPaid && hasId && own.has('amount') ? 'transfers' : null;
}
