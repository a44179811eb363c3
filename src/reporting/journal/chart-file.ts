// A chart of accounts as programs of accountants write it: CSV with a header, in Portuguese or in
// English.
import { parse } from 'csv-parse/sync';
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
const [maxCode, maxName] = [40, 200];

/** The rows, or the first thing that is wrong, with the number of its line. */
export function readChart(text: string): { rows: ChartRow[] } | { problem: string } {
  const [first = ''] = text.split('\n', 1);
  const delimiter = first.includes(';') ? ';' : ',';
  let records: string[][];
  try {
    records = parse(text, { delimiter, bom: true, relax_column_count: true, trim: true });
  } catch {
    return { problem: 'Must be CSV with a header.' };
  }
  const [head = [], ...rest] = records;
  const at = Object.fromEntries(
    Object.entries(headers).map(([name, words]) => [
      name,
      head.findIndex((cell) => (words as readonly string[]).includes(normalizeText(cell))),
    ]),
  ) as Record<Column, number>;
  const missing = (['code', 'name', 'kind'] as const).filter((name) => at[name] < 0);
  if (missing.length > 0) return { problem: `Lacks the column ${missing.join(', ')}.` };
  const rows: ChartRow[] = [];
  const codes = new Set<string>();
  for (const [index, record] of rest.entries()) {
    const cell = (name: Column) => record[at[name]] ?? '';
    if (record.every((one) => one === '')) continue;
    const code = cell('code');
    const name = cell('name');
    const kind = kinds.get(normalizeText(cell('kind')));
    const isPostable = postable.get(normalizeText(cell('postable')));
    const line = `Line ${index + 2}`;
    if (code === '' || code.length > maxCode || /\p{Cc}/u.test(code + name))
      return { problem: `${line}: the code must have 1 to ${maxCode} characters.` };
    if (name === '' || name.length > maxName)
      return { problem: `${line}: the name must have 1 to ${maxName} characters.` };
    if (kind === undefined)
      return { problem: `${line}: the kind must be asset, liability, equity, revenue or expense.` };
    if (isPostable === undefined) return { problem: `${line}: postable must be yes or no.` };
    if (codes.has(code)) return { problem: `${line}: the code stands there twice.` };
    codes.add(code);
    rows.push({ code, name, kind, isPostable });
  }
  if (rows.length === 0 || rows.length > maxChartRows)
    return { problem: `Must have 1 to ${maxChartRows} accounts.` };
  return { rows };
}
