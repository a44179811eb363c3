// Trials of a rule's versions: each is started from the rule, shows what would change line by line,
// and is accepted by whoever sees it.
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { plainDate } from '../../bank-contract/wire.js';
import { RuleCatalog } from '../../reconciliation/rules/rule-catalog.service.js';
import { RuleTrials } from '../../reconciliation/rules/rule-trials.service.js';
import { trialFigures } from '../../reconciliation/rules/trial-changes.js';
import { AppError } from '../../platform/errors.js';
import { OtherPageFirst } from '../console.guard.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Message } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { accountOf, callerOf, pathId, pathTo, requireReason, typed } from '../visit.js';
import { TrialForm } from './rule-forms.js';
import { TrialDetail, TrialProgress } from './rule-trial.js';
import { defaultText } from './rule-sentence.js';
import { readVersion, ruleOf } from './rule-version.js';

const rule = '/console/accounts/:account/rules/:id';
const needs = 'manage rules';
const trialDays = z.object({ from: plainDate.optional(), to: plainDate.optional() });

@Controller()
export class RuleTrialPages {
  constructor(
    private readonly catalog: RuleCatalog,
    private readonly trials: RuleTrials,
  ) {}

  @ConsoleAction({ path: `${rule}/try`, needs, audit: { action: 'try rule', subject: ruleOf } })
  async tryVersion(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ruleId = pathId(visit);
    const version = readVersion(visit);
    const { accountId, actor } = callerOf(visit);
    const days = trialDays.safeParse({
      from: typed(visit, 'from') || undefined,
      to: typed(visit, 'to') || undefined,
    });
    try {
      if (!days.success) throw new AppError('validation_failed');
      const run = await this.trials.start({ accountId, actor }, { ruleId, version }, days.data);
      return new Redirect(pathTo(visit, `rules/${ruleId}/runs/${run}`));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
      return refusedTrial(visit, { ruleId, version }, 'ruleTrial.wrongPeriod');
    }
  }

  /** How far a trial is; it leads to the trial when that has ended. */
  @ConsolePage({ path: `${rule}/runs/:run`, needs: 'view' })
  async progress(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ruleId = pathId(visit);
    const { id: accountId } = accountOf(visit);
    const run = await this.trials.getRun(accountId, { id: pathId(visit, 'run'), ruleId });
    const { version, lines, trialId, problem, isLost } = run;
    if (trialId !== null)
      throw new OtherPageFirst(pathTo(visit, `rules/${ruleId}/trials/${trialId}`));
    if (problem !== null || isLost) {
      const known = findTextKey(`problem.${problem}`);
      return refusedTrial(visit, { ruleId, version }, known ?? 'ruleTrial.interrupted');
    }
    const part = <TrialProgress visit={visit} lines={lines} />;
    return new Shown(visit.t('ruleTrial.start'), part, { part });
  }

  @ConsolePage({ path: `${rule}/trials/:trial`, needs: 'view' })
  async detail(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id: accountId } = accountOf(visit);
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
    return new Shown(title, <TrialDetail visit={visit} rule={shown} tried={tried} />);
  }

  @ConsoleAction({
    path: `${rule}/activate`,
    needs,
    audit: { action: 'activate rule', subject: ruleOf },
  })
  async activate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const by = { accountId, actor, reason: requireReason(visit) };
    const ruleId = pathId(visit);
    await this.catalog.activate(by, ruleId, readVersion(visit), typed(visit, 'shown'));
    return new Redirect(pathTo(visit, `rules/${ruleId}`));
  }
}

/** What is wrong, and the form again. */
function refusedTrial(
  visit: Visit,
  { ruleId, version }: { ruleId: string; version: number },
  problem: TextKey,
): Shown {
  const body = (
    <>
      <Message kind="bad">{visit.t(problem)}</Message>
      <section class="card">
        <TrialForm visit={visit} ruleId={ruleId} version={version} />
        <p>
          <a href={pathTo(visit, `rules/${ruleId}`)}>{visit.t('ruleTrial.back')}</a>
        </p>
      </section>
    </>
  );
  return new Shown(visit.t('ruleTrial.start'), body, { status: 400 });
}
