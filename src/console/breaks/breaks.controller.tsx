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
import { Card, Empty, type FilterField, Filters, Pager } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { callerOf, isAllowedTo, pathTo } from '../visit.js';
import { readBreakList, type BreakList } from './break-list.js';
import {
  amountOf,
  BreakCells,
  kindOf,
  SeverityBadge,
  BreakStateBadge,
  wordOf,
} from './break-words.js';
import { BulkChoice } from './bulk-choice.js';
import { DoneMessage } from './done-message.js';
import { ListShortcuts } from './shortcuts.js';

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
    const { data, next } = await this.reading.list(callerOf(visit), { ...list.filters, cursor });
    const rows = [...data];
    // The filters show the state that is selected where the address has none.
    const shown = { ...visit, query: withCursor(list.address, cursor) };
    const body = (
      <>
        <DoneMessage visit={visit} address={list.address} />
        <Filters visit={shown} fields={filterFields(visit)} wrong={list.wrong} />
        <Card title={t('breaks.list')}>
          {rows.length === 0 ? (
            <Empty>{t(emptyText(list, next))}</Empty>
          ) : (
            <BreakTable visit={visit} list={list} rows={rows} />
          )}
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

function BreakTable({ visit, list, rows }: { visit: Visit; list: BreakList; rows: Row[] }) {
  const { t } = visit;
  const canAct = isAllowedTo(visit, 'resolve breaks');
  const table = (
    <DataTable
      visit={visit}
      name={t('breaks.list')}
      hasKeys
      columns={[
        ...(canAct ? (['breaks.select'] as const) : []),
        'breaks.kind',
        'breaks.amount',
        'breaks.counterparty',
        'breaks.severity',
        'breaks.age',
        'breaks.openedAt',
        'breaks.state',
      ]}
      numbers={['breaks.amount', 'breaks.age']}
    >
      {rows.map((row) => (
        <BreakRow visit={visit} row={row} address={list.address} canAct={canAct} />
      ))}
    </DataTable>
  );
  if (!canAct) return table;
  return (
    <form method="get" action={pathTo(visit, 'breaks/bulk')}>
      {table}
      <BulkChoice visit={visit} list={list} />
    </form>
  );
}

function BreakRow({
  visit,
  row,
  address,
  canAct,
}: {
  visit: Visit;
  row: Row;
  address: URLSearchParams;
  canAct: boolean;
}) {
  const { t, language } = visit;
  const kind = kindOf(t, row.kind);
  const { id, amount, state, resolution } = row;
  return (
    <tr>
      {canAct && (
        <td>
          <input
            type="checkbox"
            name="break"
            value={id}
            data-key="x"
            aria-label={t('breaks.selectOne', { kind, amount: amountOf(t, amount) })}
          />
        </td>
      )}
      <BreakCells visit={visit} row={row} address={address} />
      <td>
        <SeverityBadge visit={visit} of={row.severity} />
      </td>
      <td class="number">{t('breaks.days', { count: row.ageDays })}</td>
      <td>{formatTime(row.openedAt, language)}</td>
      <td>
        <BreakStateBadge visit={visit} state={state} />
        {resolution !== null && (
          <div class="hint">{wordOf(t, 'breaks.resolution', resolution)}</div>
        )}
      </td>
    </tr>
  );
}
