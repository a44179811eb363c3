// What stands above the table of a list: what its filters find in all, the views that people saved
// of it, its file, and its order where the heads of the columns are not seen.
import type { ComponentChildren } from 'preact';
import type { ListedView } from '../../access/people/saved-views.service.js';
import { mostCounted, type ListTotal } from '../../platform/http/listing.js';
import { formatAmount, formatCount } from '../formats.js';
import { sessionOf, useVisit, type Visit } from '../visit.js';
import { addressWith } from './elements.js';
import { isGiven, type FilterDefaults } from './filters.js';
import { FieldForm, Hidden, Form, type FormFields } from './form.js';
import { Icon } from './icon.js';
import { maxFileRows } from './list-file.js';
import { OrderLink, type LabelledColumn } from './table.js';

interface ListHeadProps {
  total: ListTotal | undefined;
  views: readonly ListedView[];
  /** The columns whose orders can be asked for. */
  orders: readonly LabelledColumn<never>[];
  /** The names of the filters in the address. */
  filters: readonly string[];
  /** What filters select of which the address says nothing. */
  defaults: FilterDefaults;
  children?: ComponentChildren;
}

export function ListHead(props: ListHeadProps) {
  const visit = useVisit();
  const { total, views, children } = props;
  const query = viewQuery(visit.query, props);
  const shown = views.find((view) => view.query === query);
  return (
    <div class="list-head">
      {total && <p>{totalText(visit, total)}</p>}
      <SavedViewLinks {...{ views, shown }} />
      {children}
      {visit.session?.account && <ListWays {...{ ...props, query, shown }} />}
    </div>
  );
}

/** What a person does with the list. */
function ListWays({
  total,
  orders,
  query,
  shown,
}: ListHeadProps & { query: string; shown: ListedView | undefined }) {
  const visit = useVisit();
  const { t } = visit;
  const isCut = total !== undefined && !total.isComplete;
  return (
    <span class="list-ways">
      {orders.map((column) => (
        <span class="when-narrow">
          <OrderLink {...column} />
        </span>
      ))}
      {shown ? <ViewRemoval view={shown} /> : query !== '' && <ViewForm query={query} />}
      {visit.may('take files') && (
        <a href={addressWith(visit, { cursor: null, file: 'csv' })}>
          <Icon name="download" />{' '}
          {isCut ? t('list.firstRows', { count: formatCount(maxFileRows) }) : t('list.file')}
        </a>
      )}
    </span>
  );
}

function totalText({ t }: Visit, total: ListTotal): string {
  const { count, isComplete, cents, creditCents, debitCents } = total;
  const shown = formatCount(count);
  if (!isComplete)
    return t(count < mostCounted ? 'list.atLeast' : 'list.moreThan', { count: shown });
  return [
    t('list.total', { count: shown }),
    cents && formatAmount(cents),
    creditCents && t('list.credits', { amount: formatAmount(creditCents) }),
    debitCents && t('list.debits', { amount: formatAmount(debitCents) }),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The list, as a saved view names it: its address within the account. */
export const listName = (visit: Visit): string => visit.path.slice(visit.to('').length);

/** The filters and the order of an address: what a view saves. */
function viewQuery(
  query: URLSearchParams,
  { filters, defaults }: Pick<ListHeadProps, 'filters' | 'defaults'>,
): string {
  const given = [...filters, 'sort', 'order'].filter((name) => isGiven(query, name, defaults));
  return new URLSearchParams(given.map((name) => [name, query.get(name)?.trim() ?? ''])).toString();
}

function SavedViewLinks({
  views,
  shown,
}: Pick<ListHeadProps, 'views'> & { shown: ListedView | undefined }) {
  if (views.length === 0) return null;
  const { t, path } = useVisit();
  return (
    <nav class="views" aria-label={t('views.title')}>
      {views.map((view) => (
        <a href={`${path}?${view.query}`} aria-current={view === shown ? 'true' : undefined}>
          {view.name}
          {view.isShared && <small> {t('views.isShared')}</small>}
        </a>
      ))}
    </nav>
  );
}

/** What a person may do who shares a view with the others of the account. */
export const sharesViews = 'resolve breaks';

function ViewForm({ query }: { query: string }) {
  const visit = useVisit();
  const fields: FormFields = {
    name: { label: 'views.name', required: true, maxLength: 60 },
    ...(visit.may(sharesViews) && { isShared: { label: 'views.share', is: 'check' } }),
  };
  return (
    <details>
      <summary>{visit.t('views.save')}</summary>
      <FieldForm
        fields={fields}
        action={visit.to('views')}
        hidden={{ list: listName(visit), query }}
        button="app.save"
      />
    </details>
  );
}

/** A person removes the own views, and an admin the shared ones of others. */
function ViewRemoval({ view }: { view: ListedView }) {
  const visit = useVisit();
  const isOwn = view.operatorId === sessionOf(visit).operatorId;
  if (!isOwn && !visit.may('manage people')) return null;
  return (
    <Form action={visit.to(`views/${view.id}/remove`)}>
      <Hidden values={{ list: listName(visit) }} />
      <button class="plain">{visit.t('views.remove')}</button>
    </Form>
  );
}
