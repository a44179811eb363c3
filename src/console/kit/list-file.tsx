// A list as a file: its columns for a spreadsheet, with amounts as numbers and everything else in
// the words that the page has. It is written while its rows are read.
import type { TableColumn } from '../../reporting/exports/table.js';
import { formatCount } from '../formats.js';
import type { ListFileRow, ListFile } from '../page.js';
import { renderFor, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { seenColumns, type CellContent, type ListColumns } from './table.js';

/** A person works through no more in a spreadsheet; the page says it. */
export const maxFileRows = 10_000;

type FileCell<Row> = CellContent<Row> & { label: TextKey };

export async function fileOf<Row>(
  visit: Visit,
  mostRows: number,
  title: TextKey,
  columnsOf: (rows: readonly Row[]) => Promise<ListColumns<Row>> | ListColumns<Row>,
  read: (cursor?: string) => Promise<{ data: Row[]; next: string | null }>,
): Promise<ListFile> {
  const { t } = visit;
  const first = await read();
  const firstCells = cellsOf(await columnsOf(first.data));
  async function* chunks(): AsyncGenerator<ListFileRow[]> {
    let [left, page, cells] = [mostRows, first, firstCells];
    for (;;) {
      yield page.data.slice(0, left).map((row) => cells.map((cell) => valueOf(visit, cell, row)));
      left -= page.data.length;
      if (page.next === null || left <= 0) return;
      page = await read(page.next);
      cells = cellsOf(await columnsOf(page.data));
    }
  }
  const columns = firstCells.map(({ label, cents }, index): TableColumn<ListFileRow> => {
    const head = { name: t(label), title: t(label) };
    if (cents) return { ...head, kind: 'money', value: (row) => row[index] as bigint | null };
    return { ...head, kind: 'stranger', value: (row) => row[index] as string | null };
  });
  return { table: { title: t(title), columns }, chunks: chunks() };
}

const cellsOf = <Row,>(columns: ListColumns<Row>): FileCell<Row>[] =>
  seenColumns(columns, 'file').flatMap((column) => [
    column,
    ...(column.below ? [column.below] : []),
  ]);

function valueOf<Row>(visit: Visit, column: FileCell<Row>, row: Row) {
  const { wide, cell = wide, cents, count, at } = column;
  if (cents) return cents(row) ?? null;
  if (cell) return shownText(renderFor(visit, cell(row)));
  if (count) return formatCount(count(row));
  const time = at?.(row) ?? null;
  return time && visit.time(time);
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

/** The words of what was rendered. */
export function shownText(html: string): string {
  return html
    .replace(/<(?:"[^"]*"|[^">])*>/g, ' ')
    .replace(/&([a-z]+|#39);/g, (entity, name: string) => entities[name] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}
