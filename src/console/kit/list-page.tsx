// A page that lists records of the account: its filters, its table and its pages follow from a
// declaration. The filters are those of the route that the API has for the same list.
import type { ComponentChildren, JSX } from 'preact';
import type { z } from 'zod';
import { isUuid, readPage, type Page } from '../../platform/http/listing.js';
import { readFilters } from '../list-query.js';
import { Shown } from '../page.js';
import type { Visit } from '../requests.js';
import { type TextKey, wordOf } from '../texts.js';
import { Code, Filters, Pager, type FilterField } from './elements.js';
import { ListTable, type ListColumn } from './table.js';

/** A field of the filters. `of` names the texts of its options that have no text of their own. */
export interface Filter {
  label: TextKey;
  type?: 'text' | 'date' | 'number';
  hint?: TextKey;
  options?: readonly (string | readonly [value: string, text: string])[];
  of?: string;
}

export interface ListPage<Query extends z.ZodType, Row> {
  visit: Visit;
  title: TextKey;
  empty: TextKey;
  /** The request that fills the list. */
  example?: string;
  query: Query;
  filters: { [Name in keyof z.output<Query>]?: Filter };
  /** Whether a cursor is one of this list; without it, cursors are UUIDs. */
  isCursor?: (text: string) => boolean;
  read: (page: Page, filters: z.output<Query>) => Promise<{ data: Row[]; next: string | null }>;
  columns: (
    rows: readonly Row[],
  ) =>
    | Promise<readonly (ListColumn<Row> | false | null)[]>
    | readonly (ListColumn<Row> | false | null)[];
  /** What stands above the filters. */
  before?: ComponentChildren;
  /** What stands below the list. */
  after?: ComponentChildren;
  /** What stands below these rows. */
  afterRows?: (rows: readonly Row[]) => ComponentChildren;
}

/** Of the lists: a person reads fewer rows at once than a system. */
export const rowsOfPage = 25;

export async function listPage<Query extends z.ZodType, Row>(
  list: ListPage<Query, Row>,
): Promise<Shown> {
  const { visit, title, query, example, before, after, isCursor = isUuid } = list;
  const { filters, wrong } = readFilters(query, visit.query);
  const page = readPage({ limit: rowsOfPage, ...(filters as object) }, isCursor);
  const { data: rows, next } = await list.read(page, filters);
  const fields = Object.entries(list.filters).map(([name, filter]) =>
    fieldOf(visit, name, filter as Filter),
  );
  const isFiltered = ['cursor', ...Object.keys(list.filters)].some((name) => visit.query.get(name));
  const empty = next !== null ? 'list.searchedOn' : isFiltered ? 'list.noMatch' : list.empty;
  const columns = await list.columns(rows);
  return new Shown(
    visit.t(title),
    <>
      {before}
      <Filters {...{ visit, fields, wrong }} />
      <ListCard>
        <ListTable {...{ visit, rows, columns }} name={title} empty={visit.t(empty)} />
        {rows.length === 0 && empty === list.empty && example && <Code text={example} />}
        <Pager visit={visit} next={next} />
      </ListCard>
      {list.afterRows?.(rows)}
      {after}
    </>,
  );
}

/** Around a table that is all that a page has. */
export function ListCard({ children }: { children: ComponentChildren }): JSX.Element {
  return <div class="card">{children}</div>;
}

function fieldOf(visit: Visit, name: string, filter: Filter): FilterField {
  const { label, hint, options, of = '', type = 'text' } = filter;
  if (!options) return { name, label, type, ...(hint ? { hint } : {}) };
  const worded = options.map((one) =>
    typeof one === 'string' ? ([one, wordOf(visit.t, of, one)] as const) : one,
  );
  return { name, label, options: worded };
}
