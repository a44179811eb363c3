// A page that lists records of the account: its filters, what they find in all, its order, the
// views that people saved, its table, its pages and its file follow from a declaration. The filters
// are those of the route that the API has for the same list.
import type { ComponentChildren, VNode } from 'preact';
import type { z } from 'zod';
import { isUuid, readPage, type ListTotal, type Page } from '../../platform/http/listing.js';
import { readFilters } from '../list-query.js';
import { DeclaredList, Shown } from '../page.js';
import { ForVisit, type Visit } from '../visit.js';
import { type TextKey, wordOf } from '../texts.js';
import { addressWith, Code, Pager } from './elements.js';
import { Filters, isGiven, type FilterDefaults, type FilterField } from './filters.js';
import { fileOf, maxFileRows } from './list-file.js';
import { ListHead, listName } from './list-head.js';
import { ListTable, seenColumns, type ListColumns } from './table.js';

/** A field of the filters. `of` names the texts of its options that have no text of their own. */
export interface Filter {
  label: TextKey;
  type?: 'text' | 'date' | 'number';
  hint?: TextKey;
  options?: readonly (string | readonly [value: string, text: string])[];
  of?: string;
  /** Ids for programs and the like: behind a title of their own. */
  isMore?: boolean;
}

export interface ListPage<Query extends z.ZodType, Row> {
  visit: Visit;
  title: TextKey;
  empty: TextKey;
  /** The request that fills the list. */
  example?: string;
  query: Query;
  filters: { [Name in keyof z.output<Query>]?: Filter };
  /** What filters select of which the address says nothing; the visit's query has it. */
  defaults?: FilterDefaults;
  /** Whether a cursor is one of this list; without it, cursors are UUIDs. */
  isCursor?: (text: string) => boolean;
  /** A page, also as the query of the API has it. */
  read: (page: Page, query: z.output<Query>) => Promise<{ data: Row[]; next: string | null }>;
  /** What the filters find in all. */
  total?: (query: z.output<Query>) => Promise<ListTotal>;
  columns: (rows: readonly Row[]) => Promise<ListColumns<Row>> | ListColumns<Row>;
  /** The page of the list, where a form of it is answered by the list. */
  page?: string;
  /** How many rows a page has. */
  rows?: number;
  /** How many rows the file has at most. */
  fileRows?: number;
  /** Whether keys move through the rows: see src/console/keyboard.ts. */
  hasKeys?: boolean;
  /** What stands beside the total, with the filters folded there. */
  head?: ComponentChildren;
  /** What stands around the table of rows: a form that chooses among them. */
  around?: (table: ComponentChildren, rows: readonly Row[]) => ComponentChildren;
  /** What stands around the list. */
  frame?: (list: ComponentChildren) => VNode;
  /** What stands above the filters. */
  before?: ComponentChildren;
  /** What stands below the list. */
  after?: ComponentChildren;
  /** What stands below these rows. */
  afterRows?: (rows: readonly Row[]) => ComponentChildren;
  /** Whether the list of these rows loads itself again, while they change. */
  refreshes?: (rows: readonly Row[]) => boolean;
  /** Of the answer to a form that was refused, above the list. */
  status?: number;
}

/** Of the lists: a person reads fewer rows at once than a system. */
export const rowsOfPage = 25;
const rowsOfChunk = 500;

export function listPage<Query extends z.ZodType, Row>(list: ListPage<Query, Row>): DeclaredList {
  const { title, query, example, before, after, isCursor = isUuid, defaults = {} } = list;
  const { frame = (whole) => <>{whole}</>, around = (table) => table } = list;
  const visit = { ...list.visit, path: list.page ? list.visit.to(list.page) : list.visit.path };
  const { filters, wrong } = readFilters(query, visit.query);
  const given = filters as { limit?: number };
  const { limit = list.rows ?? rowsOfPage } = given;
  const read = (rows: number, cursor?: string) => {
    const asked = { ...given, limit: rows, ...(cursor === undefined ? {} : { cursor }) };
    return list.read(readPage(asked, isCursor), asked as z.output<Query>);
  };
  const names = Object.keys(list.filters);
  const isFiltered = names.some((name) => isGiven(visit.query, name, defaults));
  const answer = list.status === undefined ? {} : { status: list.status };

  return new DeclaredList(
    async (views) => {
      const [{ data: rows, next }, counted] = await Promise.all([
        read(limit),
        list.total?.(filters),
      ]);
      const isFirst = !visit.query.has('cursor');
      const ofPage = { count: rows.length, isComplete: next === null };
      const total = counted ?? (isFirst ? ofPage : undefined);
      const columns = await list.columns(rows);
      const isPart = isFiltered || visit.query.has('cursor');
      const empty = next !== null ? 'list.searchedOn' : isPart ? 'list.noMatch' : list.empty;
      const orders = seenColumns(columns).filter(({ isOrder = false }) => isOrder !== false);
      const fields = { wrong, defaults, fields: fieldsOf(visit, list.filters) };
      const table = <ListTable {...{ rows, columns, empty, name: title }} hasKeys={list.hasKeys} />;
      const part = (
        <div class="card" id="list" {...(list.refreshes?.(rows) && refreshing(visit))}>
          <ListHead {...{ total, views, orders, defaults }} filters={names}>
            {list.head && (
              <>
                {list.head}
                <Filters {...fields} isFolded />
              </>
            )}
          </ListHead>
          {around(table, rows)}
          {rows.length === 0 && empty === list.empty && example && <Code text={example} />}
          <Pager next={next} />
        </div>
      );
      const body = frame(
        <ForVisit visit={list.visit}>
          {before}
          <ForVisit visit={visit}>
            {!list.head && <Filters {...fields} />}
            {part}
            {list.afterRows?.(rows)}
          </ForVisit>
          {after}
        </ForVisit>,
      );
      return new Shown(visit.t(title), body, { part, ...answer });
    },
    () =>
      fileOf(visit, list.fileRows ?? maxFileRows, title, list.columns, (cursor) =>
        read(rowsOfChunk, cursor),
      ),
    { name: listName(visit), ...answer },
  );
}

/** The attributes by which an element loads itself again. */
export const refreshing = (visit: Visit) => ({
  'hx-get': addressWith(visit, {}),
  'hx-trigger': 'every 2s',
  'hx-swap': 'outerHTML',
});

/** Around a table that is all that a page has. */
export function ListCard({ children }: { children: ComponentChildren }) {
  return <div class="card">{children}</div>;
}

function fieldsOf(visit: Visit, filters: object): FilterField[] {
  return Object.entries(filters).map(([name, filter]) => {
    const { label, hint, options, of = '', type = 'text', isMore } = filter as Filter;
    if (!options) return { name, label, type, isMore, ...(hint ? { hint } : {}) };
    const worded = options.map((one) =>
      typeof one === 'string' ? ([one, wordOf(visit.t, of, one)] as const) : one,
    );
    return { name, label, isMore, options: worded };
  });
}
