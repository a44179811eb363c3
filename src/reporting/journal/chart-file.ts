// A chart of accounts as programs of accountants write it: CSV with a header, in Portuguese or in
// English.
import { CsvError, parse } from 'csv-parse/sync';
import { fieldError, type FieldError } from '../../bank-contract/field-errors.js';
import type { ChartAccountKind } from '../../generated/service/client.js';
import { normalizeText } from '../../statement/expected-payments/text-pattern.js';

export interface ChartRow {
  code: string;
  name: string;
  kind: ChartAccountKind;
  /** False for a heading. */
  isPostable: boolean;
}

const headers = {
  code: ['code', 'codigo', 'conta', 'codigo da conta', 'classificacao'],
  name: ['name', 'nome', 'descricao', 'nome da conta'],
  kind: ['kind', 'tipo', 'natureza', 'grupo'],
  postable: ['postable', 'analitica', 'lancavel', 'aceita lancamento'],
} as const;
type Column = keyof typeof headers;

const kinds = new Map<string, ChartAccountKind>(
  Object.entries({
    ...{ asset: 'asset', liability: 'liability', equity: 'equity', revenue: 'revenue' },
    expense: 'expense',
    ...{ ativo: 'asset', passivo: 'liability', 'patrimonio liquido': 'equity', pl: 'equity' },
    ...{ receita: 'revenue', receitas: 'revenue', despesa: 'expense', despesas: 'expense' },
    ...{ custo: 'expense', custos: 'expense' },
  }),
);

const postable = new Map<string, boolean>(
  Object.entries({
    ...{ '': true, true: true, sim: true, s: true, yes: true, a: true, analitica: true, '1': true },
    ...{ false: false, nao: false, n: false, no: false, sintetica: false, '0': false },
  }),
);

export const maxChartRows = 5_000;
const [maxCode, maxName, maxErrors] = [40, 200, 50];
const words: Record<Column, string> = {
  ...{ code: 'código', name: 'nome', kind: 'tipo', postable: 'analítica' },
};

/** The rows, or what is wrong with them, by line and column. */
export function readChart(text: string): { rows: ChartRow[] } | { errors: FieldError[] } {
  const [first = ''] = text.split('\n', 1);
  const delimiter = first.includes(';') ? ';' : ',';
  let records: string[][];
  try {
    records = parse(text, { delimiter, bom: true, relax_column_count: true, trim: true });
  } catch (error) {
    const line = error instanceof CsvError ? Number(error.lines) || 1 : 1;
    return { errors: [fieldError('not_csv', { line })] };
  }
  const [head = [], ...rest] = records;
  const at = Object.fromEntries(
    Object.entries(headers).map(([name, known]) => [
      name,
      head.findIndex((cell) => (known as readonly string[]).includes(normalizeText(cell))),
    ]),
  ) as Record<Column, number>;
  const missing = (['code', 'name', 'kind'] as const).filter((name) => at[name] < 0);
  const fields = missing.map((name) => words[name]).join(', ');
  if (fields !== '') return { errors: [fieldError('columns_missing', { fields })] };
  const filled = [...rest.entries()].filter(([, record]) => record.some((one) => one !== ''));
  if (filled.length === 0) return { errors: [fieldError('no_rows')] };
  if (filled.length > maxChartRows)
    return { errors: [fieldError('too_many_rows', { most: maxChartRows, line: rest.length + 1 })] };
  const [rows, errors, codes] = [[] as ChartRow[], [] as FieldError[], new Set<string>()];
  for (const [index, record] of filled) {
    const cell = (name: Column) => record[at[name]] ?? '';
    const place = (name: Column) => ({ line: index + 2, column: head[at[name]] ?? '' });
    const [code, name] = [cell('code'), cell('name')];
    const kind = kinds.get(normalizeText(cell('kind')));
    const isPostable = postable.get(normalizeText(cell('postable')));
    if (!isText(code, maxCode))
      errors.push(fieldError('chart_characters', { ...place('code'), most: maxCode }));
    if (!isText(name, maxName))
      errors.push(fieldError('chart_characters', { ...place('name'), most: maxName }));
    if (codes.has(code)) errors.push(fieldError('chart_twice', place('code')));
    codes.add(code);
    if (kind === undefined) errors.push(fieldError('chart_kind', place('kind')));
    if (isPostable === undefined) errors.push(fieldError('chart_postable', place('postable')));
    if (kind !== undefined && isPostable !== undefined) rows.push({ code, name, kind, isPostable });
  }
  return errors.length > 0 ? { errors: errors.slice(0, maxErrors) } : { rows };
}

const isText = (text: string, most: number) =>
  text !== '' && text.length <= most && !/\p{Cc}/u.test(text);
