// Formats rows of a report as columns of plain text, for reports that people read in a terminal.

type Cell = string | number;

/**
 * One line of text for each row. The first column is aligned to the left, the others to the right.
 * The first row decides how many columns there are.
 */
export function alignColumns(rows: readonly (readonly Cell[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => String(row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? String(cell).padEnd(width) : String(cell).padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
