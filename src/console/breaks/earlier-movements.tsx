// What happened before with the same counterparty.
import type { JSX } from 'preact';
import type {
  EarlierBreak,
  EarlierLine,
} from '../../reconciliation/breaks/counterparty-history.queries.js';
import { Amount, Card, Empty } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';
import type { BreakFacts } from './break-facts.js';
import { kindOf, wordOf } from './break-words.js';

export function EarlierMovementsCard({
  visit,
  facts: { before },
}: {
  visit: Visit;
  facts: BreakFacts;
}): JSX.Element {
  const { t } = visit;
  const isEmpty = before?.lines.length === 0 && before.missing.length === 0;
  return (
    <Card title={t('breaks.before')}>
      {before === null && <Empty>{t('breaks.before.unknown')}</Empty>}
      {isEmpty && <Empty>{t('breaks.before.none')}</Empty>}
      {before !== null && !isEmpty && (
        <DataTable
          visit={visit}
          name={t('breaks.before')}
          columns={[
            'breaks.before.when',
            'breaks.amount',
            'breaks.before.what',
            'breaks.before.became',
          ]}
          numbers={['breaks.amount']}
        >
          {before.missing.map((one) => (
            <MissingRow visit={visit} of={one} />
          ))}
          {before.lines.map((one) => (
            <LineRow visit={visit} of={one} />
          ))}
        </DataTable>
      )}
    </Card>
  );
}

function LineRow({ visit, of }: { visit: Visit; of: EarlierLine }) {
  const { t, language } = visit;
  const { nsu, isCredit, amountCents, occurredAt } = of;
  return (
    <tr>
      <td>{formatTime(occurredAt, language)}</td>
      <td class="number">
        <Amount cents={amountCents} />
      </td>
      <td>
        {t(isCredit ? 'breaks.direction.in' : 'breaks.direction.out')} ·{' '}
        <a href={pathTo(visit, `statement/${nsu}`)}>{t('breaks.lineOf', { nsu: String(nsu) })}</a>
      </td>
      <td class="wide">
        {t(`breaks.outcome.${of.state}`)}
        {of.rule === 'manual' && ` ${t('breaks.manual')}`}
        {of.breakId !== null && (
          <BreakLink
            visit={visit}
            of={{ id: of.breakId, kind: of.kind ?? '', resolution: of.resolution }}
          />
        )}
      </td>
    </tr>
  );
}

function MissingRow({ visit, of }: { visit: Visit; of: EarlierBreak }) {
  const { t, language } = visit;
  return (
    <tr>
      <td>{formatTime(of.openedAt, language)}</td>
      <td class="number">
        {of.amountCents === null ? t('breaks.unknownAmount') : <Amount cents={of.amountCents} />}
      </td>
      <td>{t('breaks.payment')}</td>
      <td class="wide">
        <BreakLink visit={visit} of={of} />
      </td>
    </tr>
  );
}

function BreakLink({
  visit,
  of: { id, kind, resolution },
}: {
  visit: Visit;
  of: { id: string; kind: string; resolution: string | null };
}) {
  const { t } = visit;
  const state =
    resolution === null
      ? t('breaks.state.open')
      : wordOf(t, 'breaks.resolution', resolution, 'breaks.state.resolved');
  return (
    <div>
      <a href={pathTo(visit, `breaks/${id}`)}>{kindOf(t, kind)}</a>{' '}
      <span class="hint">{state}</span>
    </div>
  );
}
