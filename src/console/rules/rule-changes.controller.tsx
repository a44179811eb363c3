// Builds rules and their versions, and retires and reorders them. Each is declared as a draft.
import { attempt } from '../problems.js';
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { fieldError } from '../../bank-contract/field-errors.js';
import { AppError, invalidField } from '../../platform/errors.js';
import { isNsu } from '../../platform/http/listing.js';
import { RuleCatalog } from '../../reconciliation/rules/rule-catalog.service.js';
import { rulePriority } from '../../reconciliation/rules/rules.schema.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { FormCard, readBody, typedBody } from '../kit/form.js';
import { Message } from '../kit/elements.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, requireReason, typed, type Visit } from '../visit.js';
import { RuleBuilder, Sentence, type BuilderProps } from './rule-builder.js';
import { emptyForm, formOfLine, formOfTerms, readRuleForm, type RuleForm } from './rule-form.js';
import { parseVersion, readVersion, reorderFields, reorderForm, ruleOf } from './rule-forms.js';
import { requestOf } from './rule-request.js';
import { defaultText } from './rule-sentence.js';

const needs = 'manage rules';
const reordering = z.object({ priority: rulePriority });

@Controller()
export class RuleChanges {
  constructor(private readonly catalog: RuleCatalog) {}

  /** Empty, or filled from a line of the statement: the address has its nsu alone. */
  @ConsolePage('rules/new', needs)
  async new(@Visiting() visit: Visit): Promise<PageAnswer> {
    const line = visit.query.get('line');
    if (line === null) return builderPage(visit, { form: emptyForm });
    if (!isNsu(line)) throw new AppError('not_found');
    const facts = await this.catalog.getLine(visit.accountId, BigInt(line));
    return builderPage(visit, { form: formOfLine(facts) }, line);
  }

  @ConsoleAction('rules/new', needs, 'declare rule', 'rule new')
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const form = readRuleForm(visit.form);
    const { accountId, actor } = callerOf(visit);
    const { problem, result: id } = await attempt(async () => {
      const body = requestOf(form);
      return this.catalog.create({ accountId, actor, reason: body.reason }, body.name, body);
    });
    if (!problem) return new Redirect(visit.to(`rules/${id}`));
    const isTaken = problem.details.reason === 'name_taken';
    visit.problem = isTaken ? invalidField('name', fieldError('name_taken')) : problem;
    return builderPage(visit, { form });
  }

  /** The form with a row more or less, or the sentence that says what it does so far. */
  @ConsoleAction('rules/preview', needs, 'own')
  async preview(@Visiting() visit: Visit): Promise<PageAnswer> {
    const asked = visit.form.get('do');
    const form = withRows(readRuleForm(visit.form), asked);
    const ruleId = typed(visit, 'ruleId') || null;
    const builder = <RuleBuilder {...{ form, ruleId }} />;
    const part = asked === null ? <Sentence form={form} /> : builder;
    return new Shown(titleOf(visit, ruleId, form), builder, { part });
  }

  @ConsolePage('rules/:id/edit', needs)
  async edit(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ruleId = pathId(visit);
    const { rule, terms } = await this.catalog.getWithTerms(visit.accountId, ruleId);
    const own = terms.get(parseVersion(visit.query.get('version')));
    if (!own) throw new AppError('not_found');
    return builderPage(visit, { ruleId, form: formOfTerms(own, rule.name) });
  }

  @ConsoleAction('rules/:id/versions', needs, 'declare rule version', ruleOf)
  async addVersion(@Visiting() visit: Visit): Promise<PageAnswer> {
    const ruleId = pathId(visit);
    const form = readRuleForm(visit.form);
    const { accountId, actor } = callerOf(visit);
    const { problem } = await attempt(async () => {
      const body = requestOf(form);
      await this.catalog.addVersion({ accountId, actor, reason: body.reason }, ruleId, body);
    });
    if (!problem) return new Redirect(visit.to(`rules/${ruleId}`));
    visit.problem = problem;
    return builderPage(visit, { ruleId, form });
  }

  @ConsoleAction('rules/:id/retire', needs, 'retire rule', ruleOf)
  async retire(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const by = { accountId, actor, reason: requireReason(visit) };
    await this.catalog.retire(by, pathId(visit), readVersion(visit));
    return new Redirect(visit.to(`rules/${pathId(visit)}`));
  }

  @ConsoleAction('rules/:id/reorder', needs, 'reorder rule', ruleOf)
  async reorder(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const key = { ruleId: pathId(visit), version: readVersion(visit) };
    const { problem } = await attempt(() => {
      const by = { accountId, actor, reason: requireReason(visit) };
      const { priority } = readBody(reordering, typedBody(visit, reorderFields));
      return this.catalog.reorder(by, key, priority);
    });
    if (!problem) return new Redirect(visit.to(`rules/${key.ruleId}`));
    const { ruleId, version } = key;
    const form = reorderForm({ visit, ruleId, version: String(version) });
    visit.problem = problem;
    return new Shown(visit.t('rules.reorder'), <FormCard {...form} title="rules.reorder" />);
  }
}

/** `add`, or `remove 2`: which button the person pressed. */
function withRows(form: RuleForm, asked: string | null): RuleForm {
  const removed = /^remove (\d{1,2})$/.exec(asked ?? '')?.[1];
  if (asked === 'add') return { ...form, conditions: [...form.conditions, newRow] };
  if (removed === undefined) return form;
  return { ...form, conditions: form.conditions.filter((_, index) => index !== Number(removed)) };
}

const newRow = { kind: '', value: '' } as const;

function titleOf(visit: Visit, ruleId: string | null, form: RuleForm): string {
  return ruleId === null
    ? visit.t('rules.new')
    : visit.t('ruleBuilder.titleVersion', { name: defaultText(form.fields.name, visit.t) });
}

/** `line`: the statement line from which the form was filled. */
function builderPage(
  visit: Visit,
  { form, ruleId = null }: Pick<BuilderProps, 'form'> & Partial<BuilderProps>,
  line?: string,
): Shown {
  const body = (
    <>
      {line !== undefined && (
        <Message kind="good">{visit.t('ruleBuilder.fromLine', { nsu: line })}</Message>
      )}
      <RuleBuilder {...{ form, ruleId }} />
    </>
  );
  return new Shown(titleOf(visit, ruleId, form), body);
}
