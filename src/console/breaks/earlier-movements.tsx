// What happened before with the same counterparty.
import type {
  EarlierBreak,
  EarlierLine,
} from '../../reconciliation/breaks/counterparty-history.queries.js';
import { Amount, Card, Empty, Hint } from '../kit/elements.js';
import { ListTable } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import type { BreakFacts } from './break-facts.js';
import { kindOf } from './break-words.js';
import { wordOf } from '../texts.js';

export function EarlierMovementsCard({ facts: { before } }: { facts: BreakFacts }) {
  const visit = useVisit();
  const { t } = visit;
  const isEmpty = before?.lines.length === 0 && before.missing.length === 0;
  return (
    <Card title={t('breaks.before')}>
      {before === null && <Empty>{t('breaks.before.unknown')}</Empty>}
      {isEmpty && <Empty>{t('breaks.before.none')}</Empty>}
      {before !== null && !isEmpty && (
        <ListTable
          name="breaks.before"
          rows={[
            ...before.missing.map((one) => missingRow(visit, one)),
            ...before.lines.map((one) => lineRow(visit, one)),
          ]}
          columns={{
            'word.when': { at: ({ at }) => at },
            'word.amount': {
              is: 'number',
              cell: ({ cents }) =>
                cents === null ? t('breaks.unknownAmount') : <Amount cents={cents} />,
            },
            'breaks.before.what': ({ what }) => what,
            'breaks.before.became': { wide: ({ became }) => became },
          }}
        />
      )}
    </Card>
  );
}

function lineRow(visit: Visit, of: EarlierLine) {
  const { t } = visit;
  const { nsu, isCredit, amountCents, occurredAt, breakId } = of;
  return {
    ...{ at: occurredAt, cents: amountCents },
    what: (
      <>
        {t(isCredit ? 'breaks.direction.in' : 'breaks.direction.out')} ·{' '}
        <a href={visit.to(`statement/${nsu}`)}>{t('breaks.lineOf', { nsu: String(nsu) })}</a>
      </>
    ),
    became: (
      <>
        {t(`line.state.${of.state}`)}
        {of.rule === 'manual' && ` ${t('breaks.manual')}`}
        {breakId !== null && (
          <BreakLink of={{ id: breakId, kind: of.kind ?? '', resolution: of.resolution }} />
        )}
      </>
    ),
  };
}

function missingRow(visit: Visit, of: EarlierBreak) {
  return {
    ...{ at: of.openedAt, cents: of.amountCents },
    what: <>{visit.t('word.expectedPayment')}</>,
    became: <BreakLink of={of} />,
  };
}

function BreakLink({
  of: { id, kind, resolution },
}: {
  of: { id: string; kind: string; resolution: string | null };
}) {
  const { t, to } = useVisit();
  const state =
    resolution === null
      ? t('breaks.state.open')
      : wordOf(t, 'breaks.resolution', resolution, 'breaks.state.resolved');
  return (
    <div>
      <a href={to(`breaks/${id}`)}>{kindOf(t, kind)}</a> <Hint>{state}</Hint>
    </div>
  );
}
