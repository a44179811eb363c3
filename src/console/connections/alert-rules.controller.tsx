// Alert rules: what people are alerted about, and by which channels.
import { Controller } from '@nestjs/common';
import { AlertChannels } from '../../reporting/alerts/alert-channels.service.js';
import { AlertRules } from '../../reporting/alerts/alert-rules.service.js';
import { createAlertRule } from '../../reporting/alerts/rules.schema.js';
import { AppError } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, isAllowedTo, pathId, pathTo, requireReason } from '../visit.js';
import { readConditionKind, readAlertRuleForm } from './alert-rule-form.js';
import { AlertRuleSteps, RuleFacts, AlertRuleForm, RuleList } from './alert-rule-views.js';
import { doneAt, ConnectionDone, findProblem, plainText } from './connection-elements.js';
import { readBody, statusOf } from '../kit/form.js';

const rules = '/console/accounts/:account/alert-rules';
const needs = 'view';
const manage = 'manage connections';
/** More than an account may have. */
const all = { after: null, limit: 100 } as const;

const subject = (visit: Visit) => `alert-rule ${pathId(visit)}` as const;

@Controller()
export class AlertRulePages {
  constructor(
    private readonly rules: AlertRules,
    private readonly channels: AlertChannels,
  ) {}

  @ConsolePage({
    path: rules,
    needs,
    menu: { title: 'alertRules.title', section: 'connections', place: 69 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id } = accountOf(visit);
    const found = await this.rules.listPage(id, all);
    const channels = await this.channels.listPage(id, all);
    return new Shown(
      visit.t('alertRules.title'),
      <RuleList visit={visit} rules={found} channels={channels} />,
    );
  }

  @ConsolePage({ path: `${rules}/new/:kind`, needs: manage })
  async startNew(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.newPage(visit, null);
  }

  @ConsoleAction({
    path: `${rules}/new/:kind`,
    needs: manage,
    audit: { action: 'create alert rule', subject: () => 'alert-rule new' },
  })
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    let id = '';
    const problem = await findProblem(async () => {
      ({ id } = await this.rules.create(accountOf(visit).id, readRule(visit, visit.params.kind)));
    });
    if (problem) return this.newPage(visit, problem);
    return new Redirect(doneAt(visit, `alert-rules/${id}`, 'saved'));
  }

  @ConsolePage({ path: `${rules}/:id`, needs })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.detail(visit, null);
  }

  @ConsoleAction({
    path: `${rules}/:id`,
    needs: manage,
    audit: { action: 'change alert rule', subject },
  })
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const problem = await findProblem(async () => {
      requireReason(visit);
      await this.rules.update(accountOf(visit).id, id, readRule(visit, visit.form.get('kind')));
    });
    if (problem) return this.detail(visit, problem);
    return new Redirect(doneAt(visit, `alert-rules/${id}`, 'saved'));
  }

  @ConsoleAction({
    path: `${rules}/:id/remove`,
    needs: manage,
    audit: { action: 'remove alert rule', subject },
  })
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const count = await this.rules.remove(accountOf(visit).id, pathId(visit));
    return new Redirect(doneAt(visit, 'alert-rules', 'ruleRemoved', count));
  }

  private async newPage(visit: Visit, problem: AppError | null): Promise<PageAnswer> {
    const kind = readConditionKind(visit.params.kind);
    if (!kind) return new Redirect(pathTo(visit, 'alert-rules'));
    const channels = await this.channels.listPage(accountOf(visit).id, all);
    const body = <AlertRuleForm {...{ visit, kind, channels, problem }} rule={null} />;
    return new Shown(visit.t('alertRules.new'), body, statusOf(problem));
  }

  private async detail(visit: Visit, problem: AppError | null): Promise<Shown> {
    const { id: accountId } = accountOf(visit);
    const rule = await this.rules.get(accountId, pathId(visit));
    const channels = await this.channels.listPage(accountId, all);
    const kind = rule.conditionKind;
    const body = (
      <>
        <ConnectionDone visit={visit} />
        <RuleFacts visit={visit} rule={rule} />
        {isAllowedTo(visit, manage) && (
          <>
            <AlertRuleForm {...{ visit, kind, rule, channels, problem }} />
            <AlertRuleSteps visit={visit} rule={rule} />
          </>
        )}
      </>
    );
    return new Shown(plainText(rule.name), body, statusOf(problem));
  }
}

/** Throws `validation_failed` for a wrong field, and for a condition that does not exist. */
function readRule({ form }: Visit, kindText: string | null | undefined) {
  const kind = readConditionKind(kindText);
  if (!kind) throw new AppError('validation_failed');
  return readBody(createAlertRule.body, readAlertRuleForm(form, kind));
}
