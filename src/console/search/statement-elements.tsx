// The table of statement lines, and how a line's amount and explanation are shown.
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { LineOutcomeState } from '../../generated/service/enums.js';
import { Amount } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { pathTo } from '../visit.js';
import { explainLine, type ExplainedLine } from './explanation.js';
import { LineLink, PartyCell, StateBadge } from './list-elements.js';

export interface ListedLine {
  nsu: bigint;
  amountCents: bigint;
  isCredit: boolean;
  typeName: string;
  occurredAt: Date;
  currentBalanceCents: bigint;
  notes: string | null;
  counterparty: Counterparty;
  state: LineOutcomeState;
  breakKind: string | null;
  breakId: string | null;
}

/** Credit or debit in a word and by its sign, and not by colour. */
export function SignedAmount({
  visit: { t },
  line: { isCredit, amountCents },
}: {
  visit: Visit;
  line: Pick<ListedLine, 'isCredit' | 'amountCents'>;
}) {
  return (
    <>
      <Amount cents={isCredit ? amountCents : -amountCents} />
      <span class="hint block">{t(isCredit ? 'line.credit' : 'line.debit')}</span>
    </>
  );
}

/** The bank's kinds of movements. Of others, the bank's own word is shown. */
export function nameOfType({ t }: Visit, typeName: string): string {
  const key = findTextKey(`line.type.${typeName}`);
  return key ? t(key) : typeName;
}

export function Why({ visit, explained }: { visit: Visit; explained: ExplainedLine }) {
  return (
    <>
      {explainLine(explained, visit).map((sentence) => (
        <span class="block">{sentence}</span>
      ))}
    </>
  );
}

export function StatementTable<Line extends ListedLine>({
  visit,
  lines,
  explanations,
  isVisible,
}: {
  visit: Visit;
  lines: readonly Line[];
  explanations: (line: Line) => ExplainedLine;
  /** Whether the reader sees personal data. */
  isVisible: boolean;
}) {
  const { t, language } = visit;
  return (
    <div class="stacked">
      <DataTable
        visit={visit}
        name={t('line.title')}
        columns={[
          'line.occurredAt',
          'line.what',
          'line.counterparty',
          'line.amount',
          'line.balance',
          'line.state',
        ]}
        numbers={['line.amount', 'line.balance']}
      >
        {lines.map((line) => (
          <tr>
            <td>
              {formatTime(line.occurredAt, language)}
              <span class="hint block">
                {t('list.nsu')} <LineLink visit={visit} nsu={line.nsu} />
              </span>
            </td>
            <td class="wide">
              {nameOfType(visit, line.typeName)}
              {isVisible && line.notes !== null && (
                <span class="hint block">
                  <bdi>{line.notes}</bdi>
                </span>
              )}
            </td>
            <td class="wide" data-label={t('line.counterparty')}>
              <PartyCell party={line.counterparty} none={t('app.none')} />
            </td>
            <td class="number" data-label={t('line.amount')}>
              <SignedAmount visit={visit} line={line} />
            </td>
            <td class="number" data-label={t('line.balance')}>
              <Amount cents={line.currentBalanceCents} />
            </td>
            <td class="wide">
              <StateBadge state={line.state} text={t(`line.state.${line.state}`)} />
              <Why visit={visit} explained={explanations(line)} />
              {line.breakKind !== null && line.breakId !== null && (
                <a href={pathTo(visit, `breaks/${line.breakId}`)}>{t('line.openBreak')}</a>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}
