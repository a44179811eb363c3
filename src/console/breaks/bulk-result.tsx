// What a bulk action did to each break, and the state that each has now.
import type { JSX } from 'preact';
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { Card } from '../kit/elements.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';
import { readBreakList } from './break-list.js';
import { BreakCells, refusalOfCode, BreakStateBadge } from './break-words.js';
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
        <a href={`${pathTo(visit, 'breaks')}?${address.toString()}`} data-key="Escape">
          {t('breaks.back')}
        </a>
      </p>
      <div class={`notice ${counts.refused > 0 ? 'warn' : 'good'}`} role="status">
        {t('breaks.bulk.done', counts)}
      </div>
      <Card title={t('breaks.bulk.outcome')}>
        <DataTable
          visit={visit}
          name={t('breaks.bulk.outcome')}
          hasKeys
          columns={[
            'breaks.kind',
            'breaks.amount',
            'breaks.counterparty',
            'breaks.bulk.outcome',
            'breaks.state',
          ]}
          numbers={['breaks.amount']}
        >
          {rows.map((one) => (
            <Row visit={visit} of={one} address={address} />
          ))}
        </DataTable>
      </Card>
    </>
  );
}

function Row({ visit, of, address }: { visit: Visit; of: ResultRow; address: URLSearchParams }) {
  const { t } = visit;
  const { row, outcome } = of;
  const why = outcome.code === null ? '' : refusalOfCode(t, outcome.code);
  return (
    <tr>
      <BreakCells visit={visit} row={row} address={address} />
      <td class="wide">{t(`breaks.bulk.outcome.${outcome.outcome}`, { why })}</td>
      <td>
        <BreakStateBadge visit={visit} state={row.state} />
      </td>
    </tr>
  );
}
