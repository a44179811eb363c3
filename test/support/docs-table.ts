// Tables of docs/ that follow from declarations in the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from '@jest/globals';

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/**
 * Expects the table with these headings to have these rows, and no others. `WRITE_DOCS=1` writes
 * them instead.
 */
export function expectTable(
  path: string,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  const isHeading = (line: string) => cellsOf(line).join() === headings.join();
  const first = lines.findIndex((line) => line.startsWith('|') && isHeading(line));
  if (first === -1) throw new Error(`${path} has no table with the headings ${headings.join()}`);
  const afterHeading = lines.slice(first + 2);
  const length = afterHeading.findIndex((line) => !line.startsWith('|'));
  if (process.env['WRITE_DOCS'] === '1')
    writeFileSync(
      path,
      [...lines.slice(0, first), ...printed(headings, rows), ...afterHeading.slice(length)].join(
        '\n',
      ),
    );
  else expect(afterHeading.slice(0, length).map(cellsOf)).toEqual(rows);
}

function printed(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headings.map((_, index) =>
    Math.max(3, ...[headings, ...rows].map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[], filler: string) =>
    `| ${widths.map((width, index) => (cells[index] ?? '').padEnd(width, filler)).join(' | ')} |`;
  return [line(headings, ' '), line([], '-'), ...rows.map((row) => line(row, ' '))];
}
