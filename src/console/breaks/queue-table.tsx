// The rows of the work queue, and below them one action on many.
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { printDay } from '../../brazil/printed-text.js';
import { PanelLink } from '../kit/break-parts.js';
import { AskingForm } from '../kit/form.js';
import { Hint } from '../kit/elements.js';
import { ListTable } from '../kit/table.js';
import { type TextKey, wordOf } from '../texts.js';
import { useVisit } from '../visit.js';
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

interface Props {
  list: BreakList;
  rows: readonly VersionedView[];
  chosen: string | null;
  /** How many breaks the filter selects; null where they are not counted. */
  count: bigint | null;
  empty: TextKey;
  people: readonly Assignee[];
}

export function QueueTable({ list, rows, chosen, count, empty, people }: Props) {
  const visit = useVisit();
  const { t } = visit;
  const canAct = visit.may('resolve breaks');
  const hrefOf = (id: string) => `${visit.to('breaks')}?${addressOfChosen(list, id).toString()}`;
  // Where all are of one person, the filter says it.
  const isOfAll = (list.filters.assignee ?? 'none') === 'none';
  const planOf = ({ assignee, snoozedUntil }: VersionedView) =>
    [
      snoozedUntil && t('breaks.snoozedTo', { day: printDay(snoozedUntil) }),
      isOfAll && assignee !== null && assigneeIn(visit, people, assignee),
    ]
      .filter(Boolean)
      .join(' · ');
  const { 'word.kind': _, ...others } = breakColumns(
    visit,
    list.address,
    (row: VersionedView) => row,
    { label: 'breaks.assignee', cell: planOf },
  );
  const table = (
    <ListTable
      {...{ name: 'breaks.list', rows, empty, hasKeys: true }}
      columns={{
        'breaks.select':
          canAct &&
          (({ id, kind, amount }) => (
            <input
              type="checkbox"
              name="break"
              value={id}
              data-key="x"
              aria-label={t('breaks.selectOne', {
                kind: kindOf(t, kind),
                amount: amountOf(t, amount),
              })}
            />
          )),
        'word.kind': {
          wide: ({ id, kind }) => (
            <PanelLink href={hrefOf(id)} isCurrent={id === chosen}>
              {kindOf(t, kind)}
            </PanelLink>
          ),
        },
        ...others,
        'breaks.age': { is: 'number', cell: ({ ageDays }) => t('breaks.days', { count: ageDays }) },
        'word.severity': ({ severity }) => <SeverityBadge state={severity} />,
        'word.status':
          list.filters.state !== 'open' &&
          (({ state, resolution }) => (
            <>
              <BreakStateBadge state={state} />
              {resolution !== null && <Hint> {wordOf(t, 'breaks.resolution', resolution)}</Hint>}
            </>
          )),
      }}
    />
  );
  if (!canAct || rows.length === 0) return table;
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
