// A table by its columns. Where the screen is narrow, each row is a card of its own.
import type { ComponentChildren, JSX } from 'preact';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { Empty } from './elements.js';
import { Unseen } from './layout.js';

export interface ListColumn<Row> {
  /** Of a column of controls: what a reader of the screen hears. */
  label: TextKey;
  cell: (row: Row) => ComponentChildren;
  /** `number`: at the right. `wide`: a name or an id, which may break between lines. */
  is?: 'number' | 'wide' | 'sentence';
}

interface TableProps<Row> {
  visit: Visit;
  /** What a reader of the screen hears. */
  name: TextKey | { said: string };
  rows: Iterable<Row>;
  /** What a person may not see is left out: `mayChange && { … }`. */
  columns: readonly (ListColumn<Row> | false | null)[];
  /** What stands in place of a table without rows. */
  empty?: ComponentChildren;
  /** Whether keys move through the rows: see src/console/keyboard.ts. */
  hasKeys?: boolean;
  id?: string;
  /** Readers of the screen alone have it: the figures of a drawing. */
  isUnseen?: boolean;
}

export function ListTable<Row>({
  visit: { t },
  name,
  rows,
  columns,
  empty,
  hasKeys = false,
  id,
  isUnseen = false,
}: TableProps<Row>): JSX.Element {
  const [shown, shownRows] = [columns.filter((one) => one !== false && one !== null), [...rows]];
  if (shownRows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  const said = typeof name === 'string' ? t(name) : name.said;
  const table = (
    <table aria-label={isUnseen ? said : undefined}>
      <thead>
        <tr>
          {shown.map(({ label, is }) => (
            <th scope="col" class={is}>
              {t(label)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody data-rows={hasKeys || undefined}>
        {shownRows.map((row) => (
          <tr>
            {shown.map(({ label, is, cell }) => (
              <td class={is} data-label={t(label)}>
                {cell(row) ?? t('app.none')}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (isUnseen) return <Unseen id={id}>{table}</Unseen>;
  return (
    <div class="scroll stacked" role="region" aria-label={said} tabindex={0} id={id}>
      {table}
    </div>
  );
}
