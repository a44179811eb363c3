// Above the list of breaks: what the filter selects in reais, by kind and by age, and the filters.
// Each part of a sum is a filter itself.
import type { BreakTotals } from '../../reconciliation/breaks/open-break-counts.js';
import { severities } from '../../reconciliation/breaks/severity.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { formatAmount, formatCount } from '../formats.js';
import { SumLinks } from '../kit/break-parts.js';
import type { Filter } from '../kit/list-page.js';
import { sessionOf, useVisit, type Visit } from '../visit.js';
import type { BreakList } from './break-list.js';
import { type Assignee, kindOf } from './break-words.js';

/** The address of the list with some of its filters changed; null takes one away. */
function addressWith(visit: Visit, list: BreakList, changes: Record<string, string | null>) {
  const address = new URLSearchParams(list.address);
  for (const [name, value] of Object.entries(changes))
    if (value === null) address.delete(name);
    else address.set(name, value);
  return `${visit.to('breaks')}?${address.toString()}`;
}

export function Sums({ list, totals }: { list: BreakList; totals: BreakTotals }) {
  const visit = useVisit();
  const { t } = visit;
  const { address } = list;
  const amountOf = ({ breaks, cents }: { breaks: bigint; cents: bigint }) =>
    `${formatCount(breaks)} · ${cents === 0n ? t('breaks.unknownAmount') : formatAmount(cents)}`;
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
export function Works({
  list,
  snoozed,
}: {
  list: BreakList;
  /** How many breaks are put off. */
  snoozed: bigint;
}) {
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

/** What is selected where the address says nothing of it. */
export const queueDefaults = { state: 'open', snoozed: 'false', sort: 'severity' };

export function queueFilters({ t }: Visit, people: readonly Assignee[]) {
  return {
    state: { label: 'word.status', options: ['open', 'resolved'], of: 'breaks.state' },
    kind: { label: 'word.kind', options: Object.keys(breakKinds), of: 'break' },
    severity: { label: 'word.severity', options: severities, of: 'severity' },
    assignee: {
      label: 'breaks.assignee',
      options: [['none', t('breaks.unassigned')], ...people],
    },
    snoozed: {
      label: 'breaks.action.snooze',
      options: [
        ['false', t('breaks.snoozedHidden')],
        ['true', t('breaks.snoozedOnly')],
      ],
    },
    minAmount: { label: 'breaks.minAmount' },
    maxAmount: { label: 'breaks.maxAmount' },
    openedFrom: { label: 'breaks.openedFrom', type: 'date' },
    openedTo: { label: 'breaks.openedTo', type: 'date' },
  } satisfies Record<string, Filter>;
}
