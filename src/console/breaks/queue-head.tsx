// Above the list of breaks: what the filter selects in reais, by kind and by age, the order, and
// the filters. Each part of a sum is a filter itself.
import type { BreakTotals } from '../../reconciliation/breaks/open-break-counts.js';
import { severities } from '../../reconciliation/breaks/severity.js';
import { breakSorts } from '../../reconciliation/breaks/breaks.schema.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { formatAmount, formatCount } from '../formats.js';
import { ListBar, SumLinks } from '../kit/break-parts.js';
import { type FilterField, Filters } from '../kit/elements.js';
import { sessionOf, useVisit, type Visit } from '../visit.js';
import type { BreakList } from './break-list.js';
import { type Assignee, kindOf } from './break-words.js';

interface Props {
  list: BreakList;
  /** Null where the filter does not select open breaks. */
  totals: BreakTotals | null;
  /** How many breaks are put off. */
  snoozed: bigint;
  people: readonly Assignee[];
}

export function QueueHead({ list, totals, snoozed, people }: Props) {
  const visit = useVisit();
  const fields = filterFields(visit, people);
  const chosen = fields.filter(({ name }) => list.address.get(name) && name !== 'state');
  return (
    <>
      {totals && <Sums {...{ list, totals }} />}
      <ListBar>
        {totals && (
          <p>
            <strong>
              {visit.t('breaks.total', {
                count: formatCount(totals.breaks),
                amount: formatAmount(totals.cents),
              })}
            </strong>
          </p>
        )}
        <Works {...{ list, snoozed }} />
        <Sorts list={list} />
        <details open={list.wrong.length > 0}>
          <summary>{visit.t('breaks.filters', { count: chosen.length })}</summary>
          <Filters fields={fields} wrong={list.wrong} />
        </details>
      </ListBar>
    </>
  );
}

/** The address of the list with some of its filters changed; null takes one away. */
function addressWith(visit: Visit, list: BreakList, changes: Record<string, string | null>) {
  const address = new URLSearchParams(list.address);
  for (const [name, value] of Object.entries(changes))
    if (value === null) address.delete(name);
    else address.set(name, value);
  return `${visit.to('breaks')}?${address.toString()}`;
}

function Sums({ list, totals }: Pick<Props, 'list'> & { totals: BreakTotals }) {
  const visit = useVisit();
  const { t } = visit;
  const { address } = list;
  const amountOf = ({ breaks, cents }: { breaks: bigint; cents: bigint }) =>
    `${formatCount(breaks)} · ${formatAmount(cents)}`;
  const byKind = totals.byKind.map((sum) => {
    const isCurrent = address.get('kind') === sum.kind;
    const href = addressWith(visit, list, { kind: isCurrent ? null : sum.kind });
    return { href, isCurrent, name: kindOf(t, sum.kind), amount: amountOf(sum) };
  });
  const byAge = totals.byAge
    .filter(({ breaks }) => breaks > 0n)
    .map((sum) => {
      const { from, to } = sum.opened;
      // The youngest has no end: a clock ahead of the bank's opens breaks of tomorrow.
      const days = { openedFrom: from, openedTo: sum.ages.from === 0 ? null : to };
      const isCurrent = Object.entries(days).every(([name, day]) => address.get(name) === day);
      const href = addressWith(
        visit,
        list,
        isCurrent ? { openedFrom: null, openedTo: null } : days,
      );
      return { href, isCurrent, name: ageOf(visit, sum.ages), amount: amountOf(sum) };
    });
  return (
    <>
      <SumLinks label={t('breaks.byKind')} sums={byKind} />
      <SumLinks label={t('breaks.byAge')} sums={byAge} />
    </>
  );
}

function ageOf({ t }: Visit, { from, to }: { from: number; to: number | null }): string {
  return to === null ? t('breaks.ageFrom', { from }) : t('breaks.ageBetween', { from, to });
}

/** Whose work, and what is put off: each a filter. */
function Works({ list, snoozed }: Pick<Props, 'list' | 'snoozed'>) {
  const visit = useVisit();
  const { t } = visit;
  const { address, filters } = list;
  const own = sessionOf(visit).operatorId;
  const isSnoozed = filters.snoozed === true;
  const works = [
    ['assignee', own, t('breaks.mine')],
    ['assignee', 'none', t('breaks.unassigned')],
    ['snoozed', 'true', t('breaks.snoozedCount', { count: formatCount(snoozed) })],
  ] as const;
  return (
    <nav aria-label={t('breaks.whose')}>
      {works.map(([name, value, text]) => {
        const isCurrent = name === 'snoozed' ? isSnoozed : address.get(name) === value;
        const href = addressWith(visit, list, { [name]: isCurrent ? null : value });
        return (
          <>
            <a href={href} aria-current={isCurrent ? 'true' : undefined}>
              {text}
            </a>{' '}
          </>
        );
      })}
    </nav>
  );
}

function Sorts({ list }: Pick<Props, 'list'>) {
  const visit = useVisit();
  const { sort = 'opened', order = 'desc' } = list.filters;
  return (
    <nav aria-label={visit.t('breaks.sort')}>
      {breakSorts.map((one) => {
        const isCurrent = one === sort;
        const next = isCurrent && order === 'desc' ? 'asc' : null;
        const href = addressWith(visit, list, { sort: one, order: next });
        return (
          <>
            <a href={href} aria-current={isCurrent ? 'true' : undefined}>
              {visit.t(`breaks.sort.${one}`)}
              {isCurrent && (order === 'desc' ? ' ↓' : ' ↑')}
            </a>{' '}
          </>
        );
      })}
    </nav>
  );
}

function filterFields({ t }: Visit, people: readonly Assignee[]): FilterField[] {
  const kinds = Object.keys(breakKinds).map((kind) => [kind, kindOf(t, kind)] as const);
  return [
    {
      name: 'state',
      label: 'word.status',
      options: (['open', 'resolved'] as const).map((one) => [one, t(`breaks.state.${one}`)]),
    },
    { name: 'kind', label: 'word.kind', options: kinds },
    {
      name: 'severity',
      label: 'word.severity',
      options: severities.map((one) => [one, t(`severity.${one}`)]),
    },
    {
      name: 'assignee',
      label: 'breaks.assignee',
      options: [['none', t('breaks.unassigned')], ...people],
    },
    {
      name: 'snoozed',
      label: 'breaks.snooze',
      options: [
        ['false', t('breaks.snoozedHidden')],
        ['true', t('breaks.snoozedOnly')],
      ],
    },
    { name: 'minAmount', label: 'breaks.minAmount', type: 'text' },
    { name: 'maxAmount', label: 'breaks.maxAmount', type: 'text' },
    { name: 'openedFrom', label: 'breaks.openedFrom', type: 'date' },
    { name: 'openedTo', label: 'breaks.openedTo', type: 'date' },
  ];
}
