// The rows of the work queue, and below them one action on many.
import type { ComponentChildren } from 'preact';
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { printDay } from '../../brazil/printed-text.js';
import { PanelLink } from '../kit/break-parts.js';
import { AskingForm } from '../kit/form.js';
import { Amount, Hint } from '../kit/elements.js';
import type { ListColumn, ListColumns } from '../kit/table.js';
import { type Translate, wordOf } from '../texts.js';
import { useVisit, type Visit } from '../visit.js';
import { addressOfChosen, type BreakList } from './break-list.js';
import {
  amountOf,
  assigneeIn,
  type Assignee,
  breakColumns,
  BreakStateBadge,
  kindOf,
  SeverityBadge,
} from './break-words.js';
import { BatchChoice, BulkChoice } from './bulk-choice.js';

/** Whether money comes in, where that is known, and the day of the line, or of the opening. */
export type RowFacts = (row: VersionedView) => { isCredit: boolean | null; day: string };

interface QueueProps {
  facts: RowFacts;
  list: BreakList;
  chosen: string | null;
  people: readonly Assignee[];
}

function signedAmount(t: Translate, facts: RowFacts): ListColumn<VersionedView> {
  const cents = (row: VersionedView) =>
    facts(row).isCredit === false && row.amount !== null ? -row.amount : row.amount;
  return {
    cents,
    cell: (row) => {
      const amount = cents(row);
      if (amount === null) return t('breaks.unknownAmount');
      return <Amount cents={amount} isSigned={facts(row).isCredit !== null} />;
    },
  };
}

export function queueColumns(
  visit: Visit,
  { list, chosen, people, facts }: QueueProps,
): ListColumns<VersionedView> {
  const { t } = visit;
  const hrefOf = (id: string) => `${visit.to('breaks')}?${addressOfChosen(list, id).toString()}`;
  // The other orders are of open breaks.
  const isOpen = list.filters.state === 'open';
  // Where all are of one person, the filter says it.
  const isOfAll = (list.filters.assignee ?? 'none') === 'none';
  const planOf = ({ assignee, snoozedUntil }: VersionedView) =>
    [
      snoozedUntil && t('breaks.snoozedTo', { day: printDay(snoozedUntil) }),
      isOfAll && assignee !== null && assigneeIn(visit, people, assignee),
    ]
      .filter(Boolean)
      .join(' · ');
  const { 'word.counterparty': party } = breakColumns(
    visit,
    list.address,
    (row: VersionedView) => row,
    { label: 'breaks.assignee', cell: planOf },
  );
  return {
    'breaks.select': visit.may('resolve breaks') && {
      isOnly: 'page',
      cell: (row) => (
        <input
          {...{ type: 'checkbox', name: 'break', value: row.id, 'data-key': 'x' }}
          aria-label={t('breaks.selectOne', {
            kind: kindOf(t, row.kind),
            amount: amountOf(t, row.amount),
          })}
        />
      ),
    },
    'word.kind': {
      wide: ({ id, kind }) => (
        <PanelLink href={hrefOf(id)} isCurrent={id === chosen}>
          {kindOf(t, kind)}
        </PanelLink>
      ),
    },
    'word.amount': { ...signedAmount(t, facts), isOrder: isOpen && 'amount' },
    'word.counterparty': party,
    'word.day': (row) => printDay(facts(row).day),
    'breaks.age': {
      ...{ is: 'number', isOrder: isOpen && 'age' },
      cell: ({ ageDays }) => t('breaks.days', { count: ageDays }),
    },
    'word.severity': {
      isOrder: isOpen && 'severity',
      cell: ({ severity }) => <SeverityBadge state={severity} />,
    },
    'word.status':
      !isOpen &&
      (({ state, resolution }) => (
        <>
          <BreakStateBadge state={state} />
          {resolution !== null && <Hint> {wordOf(t, 'breaks.resolution', resolution)}</Hint>}
        </>
      )),
  };
}

/** Around the rows: one action on many. */
export function QueueActions({
  list,
  table,
  isEmpty,
  count,
}: {
  list: BreakList;
  table: ComponentChildren;
  isEmpty: boolean;
  /** How many breaks the filter selects; absent where they are not counted. */
  count: bigint | undefined;
}) {
  const visit = useVisit();
  if (!visit.may('resolve breaks') || isEmpty) return <>{table}</>;
  return (
    <>
      <AskingForm action={visit.to('breaks/bulk')}>
        {table}
        <BulkChoice list={list} />
      </AskingForm>
      <BatchChoice {...{ list, count }} />
    </>
  );
}
