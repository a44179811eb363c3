// The list of breaks. Its filters stand in the address, and a break that is opened from it keeps
// them: after it is resolved, the next one of the same list opens.
import { Controller } from '@nestjs/common';
import { severities } from '../../reconciliation/breaks/severity.js';
import {
  BreakReading,
  type VersionedView,
} from '../../reconciliation/breaks/break-reading.service.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Card, type FilterField, Filters, Pager } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { AskingForm } from '../kit/form.js';
import { Hint } from '../kit/layout.js';
import { ListTable } from '../kit/table.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { callerOf, isAllowedTo, pathTo } from '../visit.js';
import { readBreakList, type BreakList } from './break-list.js';
import { amountOf, breakColumns, kindOf, SeverityBadge, BreakStateBadge } from './break-words.js';
import { BulkChoice } from './bulk-choice.js';
import { DoneMessage } from './done-message.js';
import { ListShortcuts } from './shortcuts.js';
import { wordOf } from '../texts.js';

type Row = Omit<VersionedView, 'version'>;

@Controller()
export class BreakPages {
  constructor(private readonly reading: BreakReading) {}

  @ConsolePage({
    path: '/console/accounts/:account/breaks',
    needs: 'view',
    menu: { title: 'breaks.title', section: 'breaks', place: 20 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const list = readBreakList(visit.query);
    const cursor = visit.query.get('cursor') ?? undefined;
    const { data: rows, next } = await this.reading.list(callerOf(visit), {
      ...list.filters,
      cursor,
    });
    // The filters show the state that is selected where the address has none.
    const shown = { ...visit, query: withCursor(list.address, cursor) };
    const body = (
      <>
        <DoneMessage visit={visit} address={list.address} />
        <Filters visit={shown} fields={filterFields(visit)} wrong={list.wrong} />
        <Card title={t('breaks.list')}>
          <BreakTable {...{ visit, list, rows }} empty={t(emptyText(list, next))} />
          <Pager visit={shown} next={next} />
        </Card>
        <ListShortcuts visit={visit} />
      </>
    );
    return new Shown(t('breaks.title'), body);
  }
}

function withCursor(address: URLSearchParams, cursor: string | undefined): URLSearchParams {
  const query = new URLSearchParams(address);
  if (cursor !== undefined) query.set('cursor', cursor);
  return query;
}

function emptyText({ filters }: BreakList, next: string | null) {
  if (next !== null) return 'breaks.more';
  return filters.state === 'open' ? 'breaks.emptyOpen' : 'breaks.empty';
}

function filterFields({ t }: Visit): FilterField[] {
  const kinds = Object.keys(breakKinds).map((kind) => [kind, kindOf(t, kind)] as const);
  return [
    {
      name: 'state',
      label: 'breaks.state',
      options: (['open', 'resolved'] as const).map((one) => [one, t(`breaks.state.${one}`)]),
    },
    { name: 'kind', label: 'breaks.kind', options: kinds },
    {
      name: 'severity',
      label: 'breaks.severity',
      options: severities.map((one) => [one, t(`breaks.severity.${one}`)]),
    },
    { name: 'minAmount', label: 'breaks.minAmount', type: 'text' },
    { name: 'maxAmount', label: 'breaks.maxAmount', type: 'text' },
    { name: 'openedFrom', label: 'breaks.openedFrom', type: 'date' },
    { name: 'openedTo', label: 'breaks.openedTo', type: 'date' },
  ];
}

function BreakTable({
  visit,
  list,
  rows,
  empty,
}: {
  visit: Visit;
  list: BreakList;
  rows: Row[];
  empty: string;
}) {
  const { t, language } = visit;
  const canAct = isAllowedTo(visit, 'resolve breaks');
  const table = (
    <ListTable
      {...{ visit, name: 'breaks.list', rows, empty, hasKeys: true }}
      columns={[
        canAct && {
          label: 'breaks.select',
          cell: ({ id, kind, amount }) => (
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
          ),
        },
        ...breakColumns(visit, list.address, (row: Row) => row),
        {
          label: 'breaks.severity',
          cell: ({ severity }) => <SeverityBadge visit={visit} of={severity} />,
        },
        {
          label: 'breaks.age',
          is: 'number',
          cell: ({ ageDays }) => t('breaks.days', { count: ageDays }),
        },
        { label: 'breaks.openedAt', cell: ({ openedAt }) => formatTime(openedAt, language) },
        {
          label: 'breaks.state',
          cell: ({ state, resolution }) => (
            <>
              <BreakStateBadge visit={visit} state={state} />
              {resolution !== null && (
                <Hint isBlock>{wordOf(t, 'breaks.resolution', resolution)}</Hint>
              )}
            </>
          ),
        },
      ]}
    />
  );
  if (!canAct || rows.length === 0) return table;
  return (
    <AskingForm action={pathTo(visit, 'breaks/bulk')}>
      {table}
      <BulkChoice visit={visit} list={list} />
    </AskingForm>
  );
}
