// What a bulk action did to each break, and the state that each has now.
import type { VersionedView } from '../../reconciliation/breaks/break-reading.service.js';
import { Message } from '../kit/elements.js';
import { TableCard } from '../kit/table.js';
import { readBreakList } from './break-list.js';
import { BackToBreaks, BreakStateBadge, refusalOfCode, breakColumns } from './break-words.js';
import type { ReadOutcome } from './bulk-outcomes.js';
import { useVisit } from '../visit.js';

interface ResultRow {
  row: VersionedView;
  outcome: ReadOutcome;
}

export function BulkResult({ rows }: { rows: readonly ResultRow[] }) {
  const visit = useVisit();
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
        <BackToBreaks address={address} />
      </p>
      <Message kind={counts.refused > 0 ? 'warn' : 'good'}>{t('breaks.bulk.done', counts)}</Message>
      <TableCard
        {...{ title: 'word.result', rows, hasKeys: true }}
        columns={{
          ...breakColumns(visit, address, ({ row }: ResultRow) => row),
          'word.result': {
            wide: ({ outcome: { outcome, code } }) =>
              t(`breaks.bulk.outcome.${outcome}`, {
                why: code === null ? '' : refusalOfCode(t, code),
              }),
          },
          'word.status': ({ row }) => <BreakStateBadge state={row.state} />,
        }}
      />
    </>
  );
}
