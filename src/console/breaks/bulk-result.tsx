// What a bulk action did to each break, and the state that each has now.
import type { JSX } from 'preact';
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { Card } from '../kit/elements.js';
import { Message } from '../kit/frame.js';
import { ListTable } from '../kit/table.js';
import type { Visit } from '../requests.js';
import { readBreakList } from './break-list.js';
import { BackToBreaks, breakColumns, BreakStateBadge, refusalOfCode } from './break-words.js';
import type { ReadOutcome } from './bulk-outcomes.js';

interface ResultRow {
  row: VersionedView;
  outcome: ReadOutcome;
}

export function BulkResult({
  visit,
  rows,
}: {
  visit: Visit;
  rows: readonly ResultRow[];
}): JSX.Element {
  const { t } = visit;
  const { address } = readBreakList(visit.query);
  const count = (name: ReadOutcome['outcome']) =>
    rows.filter(({ outcome }) => outcome.outcome === name).length;
  const counts = {
    done: count('done'),
    unchanged: count('unchanged'),
    refused: count('refused'),
  };
  return (
    <>
      <p>
        <BackToBreaks visit={visit} address={address} />
      </p>
      <Message kind={counts.refused > 0 ? 'warn' : 'good'}>{t('breaks.bulk.done', counts)}</Message>
      <Card title={t('breaks.bulk.outcome')}>
        <ListTable
          {...{ visit, name: 'breaks.bulk.outcome', rows, hasKeys: true }}
          columns={[
            ...breakColumns(visit, address, ({ row }: ResultRow) => row),
            {
              label: 'breaks.bulk.outcome',
              is: 'wide',
              cell: ({ outcome: { outcome, code } }) =>
                t(`breaks.bulk.outcome.${outcome}`, {
                  why: code === null ? '' : refusalOfCode(t, code),
                }),
            },
            {
              label: 'breaks.state',
              cell: ({ row }) => <BreakStateBadge visit={visit} state={row.state} />,
            },
          ]}
        />
      </Card>
    </>
  );
}
