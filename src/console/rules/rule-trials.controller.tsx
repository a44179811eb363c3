// Trials of rules: their progress, what they found, and what follows. First the counts, then the
// lines of one figure with their outcomes before and after, side by side.
import { attempt } from '../problems.js';
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { plainDate } from '../../bank-contract/wire.js';
import { RuleCatalog } from '../../reconciliation/rules/rule-catalog.service.js';
import { RuleTrials, type TriedChanges } from '../../reconciliation/rules/rule-trials.service.js';
import type { RuleView } from '../../reconciliation/rules/rules.schema.js';
import { trialFigures, type TrialOutcome } from '../../reconciliation/rules/trial-changes.js';
import { AppError, unlisted } from '../../platform/errors.js';
import { OtherPageFirst } from '../console.guard.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Card, FactList, Movement, WorkProgress, Message, Hint, Muted } from '../kit/elements.js';
import { Fields, FormCard, Hidden, readBody, statusOf, typedBody, Form } from '../kit/form.js';
import { ListTable } from '../kit/table.js';
import { formatAmount, formatCount } from '../formats.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, requireReason, typed, useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import { readVersion, ruleOf, ruleReason, trialFields, trialForm } from './rule-forms.js';
import { defaultText } from './rule-sentence.js';

const needs = 'manage rules';
const trialDays = z.object({ from: plainDate.optional(), to: plainDate.optional() });

@Controller()
export class RuleTrialPages {
  constructor(
    private readonly catalog: RuleCatalog,
    private readonly trials: RuleTrials,
  ) {}

  @ConsoleAction('rules/:id/try', needs, 'try rule', ruleOf)
  async tryVersion(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ruleId = pathId(visit);
    const version = readVersion(visit);
    const { accountId, actor } = callerOf(visit);
    const { problem, result: run } = await attempt(() =>
      this.trials.start(
        { accountId, actor },
        { ruleId, version },
        readBody(trialDays, typedBody(visit, trialFields)),
      ),
    );
    if (!problem) return new Redirect(visit.to(`rules/${ruleId}/runs/${run}`));
    const isPeriod = problem.code === 'validation_failed';
    return refusedTrial(
      visit,
      { ruleId, version },
      isPeriod ? trialProblem('wrongPeriod') : problem,
    );
  }

  /** How far a trial is; it leads to the trial when that has ended. */
  @ConsolePage('rules/:id/runs/:run', 'view')
  async progress(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ruleId = pathId(visit);
    const { accountId } = visit;
    const run = await this.trials.getRun(accountId, { id: pathId(visit, 'run'), ruleId });
    const { version, lines, trialId, problem, isLost } = run;
    if (trialId !== null) throw new OtherPageFirst(visit.to(`rules/${ruleId}/trials/${trialId}`));
    if (problem !== null || isLost) {
      const reason =
        problem !== null && findTextKey(`problem.${problem}`) ? problem : 'interrupted';
      return refusedTrial(visit, { ruleId, version }, trialProblem(reason));
    }
    const said = visit.t('ruleTrial.running', { lines: formatCount(lines) });
    const part = (
      <WorkProgress
        {...{ id: 'trial-progress', href: visit.path, name: 'ruleTrial.start', said }}
      />
    );
    return new Shown(visit.t('ruleTrial.start'), part, { part });
  }

  @ConsolePage('rules/:id/trials/:trial', 'view')
  async detail(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const ruleId = pathId(visit);
    const { rule: shown } = await this.catalog.getWithTerms(accountId, ruleId);
    const asked = visit.query.get('figure');
    const figure = trialFigures.find((one) => one === asked) ?? null;
    const tried = await this.trials.getChanges(accountId, ruleId, {
      id: pathId(visit, 'trial'),
      figure,
    });
    const { version } = tried.trial;
    const title = visit.t('ruleTrial.title', {
      version,
      name: defaultText(shown.name, visit.t),
    });
    return new Shown(title, <TrialDetail rule={shown} tried={tried} />);
  }

  @ConsoleAction('rules/:id/activate', needs, 'activate rule', ruleOf)
  async activate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const by = { accountId, actor, reason: requireReason(visit) };
    const ruleId = pathId(visit);
    await this.catalog.activate(by, ruleId, readVersion(visit), typed(visit, 'shown'));
    return new Redirect(visit.to(`rules/${ruleId}`));
  }
}

const trialProblem = (reason: string) =>
  new AppError('validation_failed', { reason: unlisted(reason) });

/** What is wrong, and the form again. */
function refusedTrial(
  visit: Visit,
  { ruleId, version }: { ruleId: string; version: number },
  problem: AppError,
): Shown {
  const body = (
    <>
      <FormCard
        {...{ ...trialForm({ visit, ruleId, version: String(version) }), problem }}
        title="ruleTrial.start"
      />
      <BackToRule ruleId={ruleId} />
    </>
  );
  return new Shown(visit.t('ruleTrial.start'), body, statusOf(problem));
}

function BackToRule({ ruleId }: { ruleId: string }) {
  const { to, t } = useVisit();
  return (
    <p>
      <a href={to(`rules/${ruleId}`)}>{t('ruleTrial.back')}</a>
    </p>
  );
}

interface TrialProps {
  rule: RuleView;
  tried: TriedChanges;
}

function TrialDetail(props: TrialProps) {
  const { rule } = props;
  return (
    <>
      <BackToRule ruleId={rule.id} />
      <Summary {...props} />
      <Figures {...props} />
      <Changes {...props} />
      <Acceptance {...props} />
    </>
  );
}

function Summary({ tried: { trial } }: TrialProps) {
  const { t, time } = useVisit();
  const sumOf = ({ count, amount }: { count: number; amount: bigint }) =>
    t('ruleTrial.sum', { count: formatCount(count), amount: formatAmount(amount) });
  const lastMoment = new Date(trial.until.getTime() - 1_000);
  const period = `${time(trial.from)} – ${time(lastMoment)}`;
  return (
    <FactList
      title="word.result"
      facts={[
        ['ruleTrial.version', trial.version],
        ['ruleTrial.at', time(trial.createdAt)],
        ['ruleTrial.period', period],
        ['ruleTrial.lines', formatCount(trial.lines)],
        ['ruleTrial.tolerated', sumOf(trial.tolerated)],
        ['ruleTrial.fees', sumOf(trial.fees)],
      ]}
    />
  );
}

function Figures({ tried: { trial, figure: open } }: TrialProps) {
  const { t, path } = useVisit();
  const isUnchanged = trialFigures.every((figure) => trial[figure].count === 0);
  return (
    <Card title={t('ruleTrial.figures')}>
      {isUnchanged && <Message kind="good">{t('ruleTrial.nothing')}</Message>}
      <ListTable
        {...{ name: 'ruleTrial.figures', rows: trialFigures }}
        columns={{
          'ruleTrial.figure': {
            wide: (figure) => (
              <>
                {trial[figure].count > 0 ? (
                  <a
                    href={`${path}?figure=${figure}#differences`}
                    aria-current={figure === open ? 'true' : undefined}
                  >
                    {t(`ruleFigure.${figure}`)}
                  </a>
                ) : (
                  t(`ruleFigure.${figure}`)
                )}
                <Hint isBlock>{t(`ruleFigure.${figure}.hint`)}</Hint>
              </>
            ),
          },
          'word.lines': { count: (figure) => trial[figure].count },
        }}
      />
    </Card>
  );
}

function Changes({ tried }: TrialProps) {
  const { t, time, to } = useVisit();
  const { trial, figure, changes, lines } = tried;
  const { count } = trial[figure];
  if (count === 0) return null;
  const lineOf = new Map(lines.map((line) => [line.nsu, line]));
  const title = t('ruleTrial.differencesOf', {
    figure: t(`ruleFigure.${figure}`),
    count: formatCount(count),
  });
  return (
    <Card title={title} id="differences">
      {changes.length < count && (
        <Muted>
          {t('ruleTrial.firstOf', { shown: changes.length, count: formatCount(count) })}
        </Muted>
      )}
      <ListTable
        {...{ name: { said: title }, rows: changes, empty: 'ruleTrial.noLines' }}
        columns={{
          'word.line': {
            wide: ({ nsu }) => {
              const line = lineOf.get(nsu);
              return (
                <>
                  <a href={to(`statement/${nsu}`)}>{nsu.toString()}</a>
                  {line && (
                    <Hint isBlock>
                      {time(line.occurredAt)} · {line.typeName}
                    </Hint>
                  )}
                </>
              );
            },
          },
          'word.amount': {
            is: 'number',
            cell: ({ nsu }) => {
              const line = lineOf.get(nsu);
              return line && <Movement of={line} />;
            },
          },
          'ruleTrial.now': { wide: ({ before }) => <Outcome outcome={before} tried={tried} /> },
          'ruleTrial.then': {
            wide: ({ after }) => (
              <>
                <Outcome outcome={after} tried={tried} />
                {figure === 'conflicts' && <Hint isBlock>{t('ruleTrial.unchanged')}</Hint>}
              </>
            ),
          },
        }}
      />
    </Card>
  );
}

function Outcome({
  outcome: { state, label, ruleId, payments },
  tried: { ruleNames },
}: {
  outcome: TrialOutcome;
  tried: TriedChanges;
}) {
  const visit = useVisit();
  const { t } = visit;
  const name = ruleId === null ? undefined : ruleNames.get(ruleId);
  const more = payments.count - payments.ids.length;
  return (
    <>
      <strong>{outcomeText(visit, state, label)}</strong>
      {payments.ids.map((id) => (
        <div>
          <a href={visit.to(`expected-payments/${id}`)}>
            {t('ruleOutcome.payment', { id: id.slice(-12) })}
          </a>
        </div>
      ))}
      {more > 0 && <div>{t('ruleOutcome.morePayments', { count: formatCount(more) })}</div>}
      {name !== undefined && (
        <Hint isBlock>{t('ruleOutcome.byRule', { name: defaultText(name, t) })}</Hint>
      )}
    </>
  );
}

function outcomeText({ t }: Visit, state: TrialOutcome['state'], label: string | null): string {
  const key = findTextKey(state === 'classified' ? `ruleCategory.${label}` : `break.${label}`);
  const text = key ? t(key) : (label ?? '');
  if (state === 'classified') return t('ruleOutcome.classified', { category: text });
  return state === 'in_break' ? t('word.breakOf', { kind: text }) : t(`ruleOutcome.${state}`);
}

function Acceptance({ rule, tried: { trial } }: TrialProps) {
  const { t, to, may } = useVisit();
  if (!may('manage rules')) return null;
  const version = rule.versions.find((one) => one.version === trial.version);
  const isNewest = version?.trials[0]?.id === trial.id;
  return (
    <Card title={t('ruleTrial.accept')}>
      {version?.state === 'active' && <p>{t('ruleTrial.isActive')}</p>}
      {version?.state !== 'active' && !isNewest && <p>{t('ruleTrial.newerTrial')}</p>}
      {version?.state !== 'active' && isNewest && (
        <Form action={to(`rules/${rule.id}/activate`)} shown={trial.id}>
          <p>{t('ruleTrial.acceptHint', { version: trial.version })}</p>
          <Hidden values={{ version: String(trial.version) }} />
          <Fields fields={ruleReason} />
          <button>{t('ruleTrial.activate', { version: trial.version })}</button>
        </Form>
      )}
    </Card>
  );
}
