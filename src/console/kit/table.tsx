// A table by its columns. Where the screen is narrow, each row is a card of its own.
import type { ComponentChildren } from 'preact';
import type { Order } from '../../platform/http/listing.js';
import { formatCount } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { addressWith, Amount, Empty, Hint, Unseen, Card } from './elements.js';
import { Icon } from './icon.js';

/** Anything that a page can show. */
type Shows<Row> = (row: Row) => ComponentChildren;

/**
 * What a cell shows: anything, a name or an id that may break between lines, an amount in cents, a
 * number of things, or a time.
 */
export interface CellContent<Row> {
  cell?: Shows<Row>;
  wide?: Shows<Row>;
  cents?: (row: Row) => bigint | null | undefined;
  count?: (row: Row) => bigint | number;
  at?: (row: Row) => Date | null | undefined;
}

export interface ListColumn<Row> extends CellContent<Row> {
  /** Of a cell. `number`: at the right. */
  is?: 'number' | 'sentence';
  /** Around what the cell shows: the page of the record. */
  href?: (row: Row) => string;
  /** Quietly below it, after its label if `isNamed`. In a file it is a column of its own. */
  below?: { label: TextKey; cell: Shows<Row>; isNamed?: boolean };
  /**
   * The list can have the order of this column: its head turns it round. A name is one of several
   * orders, the list's `sort`.
   */
  isOrder?: boolean | string;
  /** Of controls, which a file has not; or of ids for programs, which a page has not. */
  isOnly?: 'page' | 'file';
  /** Of cents: what came in or went out. `below` says it in a word. */
  isSigned?: boolean;
  /** What a row is known by: a table with one has rows of one line, of two on a narrow screen. */
  isLead?: boolean;
  /** The record has it too: where the screen is narrow, the row has not. */
  isDetail?: boolean;
}

/**
 * By the text of the head; of a column of controls, readers of the screen hear it. What a person
 * may not see is left out: `mayChange && { … }`.
 */
export type ListColumns<Row> = {
  readonly [Label in TextKey]?: ListColumn<Row> | Shows<Row> | false | null;
};

export type LabelledColumn<Row> = ListColumn<Row> & { label: TextKey };

/** The columns that a person sees, on the page or in the file. */
export const seenColumns = <Row,>(
  columns: ListColumns<Row>,
  where: 'page' | 'file' = 'page',
): LabelledColumn<Row>[] =>
  Object.entries(columns).flatMap(([label, column]) => {
    if (!column) return [];
    const of: ListColumn<Row> = typeof column === 'function' ? { cell: column } : column;
    return (of.isOnly ?? where) === where ? [{ ...of, label: label as TextKey }] : [];
  });

export interface TableProps<Row> {
  /** What a reader of the screen hears. */
  name: TextKey | { said: string };
  rows: Iterable<Row>;
  columns: ListColumns<Row>;
  /** What stands in place of a table without rows. */
  empty?: TextKey;
  /** Whether keys move through the rows: see src/console/keyboard.ts. */
  hasKeys?: boolean;
  id?: string;
  /** Readers of the screen alone have it: the figures of a drawing. */
  isUnseen?: boolean;
}

export function ListTable<Row>({
  name,
  rows,
  columns,
  empty,
  hasKeys = false,
  id,
  isUnseen = false,
}: TableProps<Row>) {
  const { t } = useVisit();
  const [shown, shownRows] = [seenColumns(columns), [...rows]];
  if (shownRows.length === 0 && empty !== undefined) return <Empty>{t(empty)}</Empty>;
  const said = typeof name === 'string' ? t(name) : name.said;
  const classOf = ({ is, wide, cents, count, isLead, isDetail }: ListColumn<Row>) =>
    [
      is ?? (wide ? 'wide' : (cents ?? count) ? 'number' : null),
      isLead && 'lead',
      isDetail && 'detail',
    ]
      .filter(Boolean)
      .join(' ') || undefined;
  const kind = shown.some(({ isLead }) => isLead) ? 'scroll stacked rows' : 'scroll stacked';
  const table = (
    <table aria-label={isUnseen ? said : undefined}>
      <thead>
        <tr>
          {shown.map((column) => (
            <Head label={column.label} isOrder={column.isOrder} is={classOf(column)} />
          ))}
        </tr>
      </thead>
      <tbody data-rows={hasKeys || undefined}>
        {shownRows.map((row) => (
          <tr>
            {shown.map((column) => (
              <td class={classOf(column)} data-label={t(column.label)}>
                <Content {...{ column, row }} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (isUnseen) return <Unseen id={id}>{table}</Unseen>;
  return (
    <div class={kind} role="region" aria-label={said} tabindex={0} id={id}>
      {table}
    </div>
  );
}

/** A table in a card with its name, and what stands below it. */
export function TableCard<Row>({
  title,
  children,
  ...table
}: Omit<TableProps<Row>, 'name'> & { title: TextKey; children?: ComponentChildren }) {
  return (
    <Card title={useVisit().t(title)}>
      <ListTable name={title} {...table} />
      {children}
    </Card>
  );
}

/** The order in which a list stands, by its address. */
export const orderOf = ({ query }: Visit): Order => (query.get('order') === 'asc' ? 'asc' : 'desc');

type OrderColumn = Pick<LabelledColumn<never>, 'label' | 'isOrder'>;

const hasOrderOf = ({ query }: Visit, { isOrder = false }: OrderColumn) =>
  isOrder === true || (isOrder !== false && query.get('sort') === isOrder);

/** Leads to the list in the order of the column; in that order, to the other way round. */
export function OrderLink({ label, isOrder }: OrderColumn) {
  const visit = useVisit();
  const isAscending = orderOf(visit) === 'asc';
  const isOwn = hasOrderOf(visit, { label, isOrder });
  const order = isOwn && !isAscending ? 'asc' : null;
  const changes = { order, cursor: null, ...(!isOwn && { sort: String(isOrder) }) };
  const title = visit.t(isAscending ? 'list.newestFirst' : 'list.oldestFirst');
  return (
    <a href={addressWith(visit, changes)} title={isOrder === true ? title : undefined}>
      {visit.t(label)} {isOwn && <Icon name={isAscending ? 'arrow-up' : 'arrow-down'} />}
    </a>
  );
}

function Head({ is, ...column }: OrderColumn & { is: string | undefined }) {
  const visit = useVisit();
  const order = orderOf(visit) === 'asc' ? 'ascending' : 'descending';
  return (
    <th scope="col" class={is} aria-sort={hasOrderOf(visit, column) ? order : undefined}>
      {column.isOrder ? <OrderLink {...column} /> : visit.t(column.label)}
    </th>
  );
}

function Content<Row>({ column, row }: { column: ListColumn<Row>; row: Row }) {
  const { t, time } = useVisit();
  const { wide, cell = wide, cents, count, at, href, below, isSigned } = column;
  const amount = cents?.(row);
  const shown =
    cell?.(row) ??
    (typeof amount === 'bigint' ? <Amount cents={amount} isSigned={isSigned} /> : null) ??
    (count && formatCount(count(row))) ??
    (at && time(at(row))) ??
    t('app.none');
  const under = below?.cell(row);
  return (
    <>
      {href ? <a href={href(row)}>{shown}</a> : shown}
      {below && isSeen(under) && (
        <Hint isBlock>
          {below.isNamed && `${t(below.label)} `}
          {under}
        </Hint>
      )}
    </>
  );
}

const isSeen = (content: ComponentChildren) =>
  content !== null && content !== undefined && content !== false && content !== '';
