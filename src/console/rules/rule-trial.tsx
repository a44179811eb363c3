// What a trial found: counts first, then the lines of one figure with their outcomes before and
// after, side by side.
import type { JSX } from 'preact';
import type { TriedChanges } from '../../reconciliation/rules/rule-trials.service.js';
import type { RuleView } from '../../reconciliation/rules/rules.schema.js';
import { trialFigures, type TrialOutcome } from '../../reconciliation/rules/trial-changes.js';
import { Amount, Card, Empty, FactList } from '../kit/elements.js';
import { formatAmount, formatCount, formatTime } from '../formats.js';
import { DataTable, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { defaultText } from './rule-sentence.js';
import { ActivateForm } from './rule-forms.js';

interface TrialProps {
  visit: Visit;
  rule: RuleView;
  tried: TriedChanges;
}

export function TrialDetail(props: TrialProps): JSX.Element {
  const { visit, rule } = props;
  const { t } = visit;
  return (
    <>
      <p>
        <a href={pathTo(visit, `rules/${rule.id}`)}>{t('ruleTrial.back')}</a>
      </p>
      <Summary {...props} />
      <Figures {...props} />
      <Changes {...props} />
      <Acceptance {...props} />
    </>
  );
}

/** It reads itself again each second; without JavaScript, by its link. */
export function TrialProgress({ visit, lines }: { visit: Visit; lines: number }): JSX.Element {
  const { t, path } = visit;
  return (
    <section
      class="card"
      id="trial-progress"
      hx-get={path}
      hx-trigger="every 1s"
      hx-swap="outerHTML"
    >
      <p role="status">{t('ruleTrial.running', { lines: formatCount(lines) })}</p>
      <progress aria-label={t('ruleTrial.start')} />
      <p>
        <a href={path}>{t('ruleTrial.refresh')}</a>
      </p>
    </section>
  );
}

function Summary({ visit, tried: { trial } }: TrialProps) {
  const { t, language } = visit;
  const sumOf = ({ count, amount }: { count: number; amount: bigint }) =>
    t('ruleTrial.sum', { count: formatCount(count), amount: formatAmount(amount) });
  const lastMoment = new Date(trial.until.getTime() - 1_000);
  const period = `${formatTime(trial.from, language)} – ${formatTime(lastMoment, language)}`;
  return (
    <FactList
      visit={visit}
      title="ruleTrial.summary"
      facts={[
        ['ruleTrial.version', trial.version],
        ['ruleTrial.at', formatTime(trial.createdAt, language)],
        ['ruleTrial.period', period],
        ['ruleTrial.lines', formatCount(trial.lines)],
        ['ruleTrial.tolerated', sumOf(trial.tolerated)],
        ['ruleTrial.fees', sumOf(trial.fees)],
      ]}
    />
  );
}

function Figures({ visit, tried: { trial, figure: open } }: TrialProps) {
  const { t } = visit;
  const isUnchanged = trialFigures.every((figure) => trial[figure].count === 0);
  return (
    <Card title={t('ruleTrial.figures')}>
      {isUnchanged && <Message kind="good">{t('ruleTrial.nothing')}</Message>}
      <DataTable
        visit={visit}
        name={t('ruleTrial.figures')}
        columns={['ruleTrial.figure', 'ruleTrial.count']}
        numbers={['ruleTrial.count']}
      >
        {trialFigures.map((figure) => (
          <tr>
            <td class="wide">
              {trial[figure].count > 0 ? (
                <a
                  href={`${visit.path}?figure=${figure}#differences`}
                  aria-current={figure === open ? 'true' : undefined}
                >
                  {t(`ruleFigure.${figure}`)}
                </a>
              ) : (
                t(`ruleFigure.${figure}`)
              )}
              <div class="hint">{t(`ruleFigure.${figure}.hint`)}</div>
            </td>
            <td class="number">{formatCount(trial[figure].count)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Changes({ visit, tried }: TrialProps) {
  const { t, language } = visit;
  const { trial, figure, changes, lines } = tried;
  const { count } = trial[figure];
  if (count === 0) return null;
  const lineOf = new Map(lines.map((line) => [line.nsu, line]));
  const title = t('ruleTrial.differencesOf', {
    figure: t(`ruleFigure.${figure}`),
    count: formatCount(count),
  });
  return (
    <section class="card" id="differences">
      <h2>{title}</h2>
      {changes.length < count && (
        <p class="hint">
          {t('ruleTrial.firstOf', { shown: changes.length, count: formatCount(count) })}
        </p>
      )}
      {changes.length === 0 && <Empty>{t('ruleTrial.noLines')}</Empty>}
      <DataTable
        visit={visit}
        name={title}
        columns={['ruleTrial.line', 'ruleTrial.amount', 'ruleTrial.now', 'ruleTrial.then']}
        numbers={['ruleTrial.amount']}
      >
        {changes.map(({ nsu, before, after }) => {
          const line = lineOf.get(nsu);
          return (
            <tr>
              <td class="wide">
                <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
                {line && (
                  <div class="hint">
                    {formatTime(line.occurredAt, language)} · {line.typeName}
                  </div>
                )}
              </td>
              <td class="number">
                {line && <Amount cents={line.isCredit ? line.amountCents : -line.amountCents} />}
              </td>
              <td class="wide">
                <Outcome visit={visit} outcome={before} tried={tried} />
              </td>
              <td class="wide">
                <Outcome visit={visit} outcome={after} tried={tried} />
                {figure === 'conflicts' && <div class="hint">{t('ruleTrial.unchanged')}</div>}
              </td>
            </tr>
          );
        })}
      </DataTable>
    </section>
  );
}

function Outcome({
  visit,
  outcome: { state, label, ruleId, payments },
  tried: { ruleNames },
}: {
  visit: Visit;
  outcome: TrialOutcome;
  tried: TriedChanges;
}) {
  const { t } = visit;
  const name = ruleId === null ? undefined : ruleNames.get(ruleId);
  const more = payments.count - payments.ids.length;
  return (
    <>
      <strong>{outcomeText(visit, state, label)}</strong>
      {payments.ids.map((id) => (
        <div>
          <a href={pathTo(visit, `expected-payments/${id}`)}>
            {t('ruleOutcome.payment', { id: id.slice(-12) })}
          </a>
        </div>
      ))}
      {more > 0 && <div>{t('ruleOutcome.morePayments', { count: formatCount(more) })}</div>}
      {name !== undefined && (
        <div class="hint">{t('ruleOutcome.byRule', { name: defaultText(name, t) })}</div>
      )}
    </>
  );
}

function outcomeText({ t }: Visit, state: TrialOutcome['state'], label: string | null): string {
  const key = findTextKey(state === 'classified' ? `ruleCategory.${label}` : `break.${label}`);
  const text = key ? t(key) : (label ?? '');
  if (state === 'classified') return t('ruleOutcome.classified', { category: text });
  return state === 'in_break'
    ? t('ruleOutcome.in_break', { kind: text })
    : t(`ruleOutcome.${state}`);
}

function Acceptance({ visit, rule, tried: { trial } }: TrialProps) {
  const { t } = visit;
  if (!isAllowedTo(visit, 'manage rules')) return null;
  const version = rule.versions.find((one) => one.version === trial.version);
  const isNewest = version?.trials[0]?.id === trial.id;
  return (
    <Card title={t('ruleTrial.accept')}>
      {version?.state === 'active' && <p>{t('ruleTrial.isActive')}</p>}
      {version?.state !== 'active' && !isNewest && <p>{t('ruleTrial.newerTrial')}</p>}
      {version?.state !== 'active' && isNewest && (
        <ActivateForm visit={visit} ruleId={rule.id} version={trial.version} trialId={trial.id} />
      )}
    </Card>
  );
}
