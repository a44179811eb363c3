// The form that builds a version of a rule, with the sentence that says what it does.
import { ruleReason } from './rule-forms.js';
import { criteria, declaredCategories, salesGroups } from '../../reconciliation/decide/rule.js';
import {
  Card,
  Message,
  Button,
  FirstButton,
  ForChoice,
  Hint,
  Muted,
  Row,
} from '../kit/elements.js';
import {
  FieldErrorText,
  Fields,
  FormProblem,
  FormGroup,
  Hidden,
  Form,
  type FormFields,
  errorMarks,
} from '../kit/form.js';
import type { TextKey, Translate } from '../texts.js';
import { useVisit } from '../visit.js';
import { sentenceOptions } from './rule-detail.js';
import { partKinds, ruleConditionKinds, type ConditionRow, type RuleForm } from './rule-form.js';
import { termsSoFar } from './rule-request.js';
import { linesCovered, whatHappens } from './rule-sentence.js';

export interface BuilderProps {
  form: RuleForm;
  /** Its errors have the names of the fields; a row of the conditions is `condition.<index>`. */
  /** The rule that gets another version; null for a new rule. */
  ruleId: string | null;
}

const number = { is: 'amount' } as const;

/** By the parts of the form. Of a rule that matches: what must agree, and what is tolerated. */
const fieldsOf = (t: Translate) =>
  ({
    name: { name: { label: 'word.name', maxLength: 100, required: true } },
    priority: {
      priority: {
        ...{ label: 'rules.order', hint: 'ruleBuilder.priorityHint', is: 'number' },
        ...{ min: 0, max: 100_000, required: true },
      },
    },
    action: {
      action: {
        ...{ label: 'word.outcome', is: 'radios' },
        options: (['classify', 'match'] as const).map((one) => [
          one,
          t(`ruleBuilder.action.${one}`),
        ]),
      },
    },
    classification: {
      category: {
        ...{ label: 'ruleBuilder.classification', is: 'choice' },
        options: declaredCategories.map((one) => [one, t(`ruleCategory.${one}`)]),
      },
      categoryReason: { label: 'ruleBuilder.categoryReason', maxLength: 300 },
    },
    by: {
      by: {
        ...{ label: 'ruleMatch.by', hint: 'ruleMatch.byHint', is: 'choices' },
        options: criteria.map((one) => [one, t(`ruleMatch.by.${one}`)]),
      },
    },
    window: {
      daysBefore: { label: 'ruleMatch.daysBefore', ...number },
      daysAfter: { label: 'ruleMatch.daysAfter', ...number },
    },
    parts: {
      parts: {
        ...{ label: 'ruleMatch.parts', is: 'radios' },
        options: partKinds.map((one) => [one, t(`ruleParts.${one}`)]),
      },
    },
    tolerance: {
      toleranceAmount: { label: 'ruleMatch.toleranceAmount', ...number },
      tolerancePercent: { label: 'ruleMatch.tolerancePercent', ...number },
      toleranceMax: { label: 'ruleMatch.toleranceMax', ...number },
    },
    plan: {
      planCount: { label: 'ruleMatch.planCount', ...number },
      planInterval: { label: 'ruleMatch.planInterval', ...number },
      planToleranceDays: { label: 'ruleMatch.planToleranceDays', ...number },
    },
    netSettlement: {
      groupBy: {
        ...{ label: 'ruleMatch.groupBy', is: 'choice' },
        options: salesGroups.map((one) => [one, t(`ruleMatch.groupBy.${one}`)]),
      },
      feePercentMin: { label: 'ruleMatch.feePercentMin', ...number },
      feePercentMax: { label: 'ruleMatch.feePercentMax', ...number },
      feePerSaleMin: { label: 'ruleMatch.feePerSaleMin', ...number },
      feePerSaleMax: { label: 'ruleMatch.feePerSaleMax', ...number },
    },
    coding: {
      codingCategory: { label: 'word.category', maxLength: 100 },
      costCentre: { label: 'expectedPayment.costCentre', maxLength: 100 },
      project: { label: 'expectedPayment.project', maxLength: 100 },
    },
    reason: { reason: { ...ruleReason.reason, hint: 'ruleBuilder.reasonHint' } },
  }) as const satisfies Record<string, FormFields>;

/** The whole form. `#rule-builder` is the part that a row's buttons exchange. */
export function RuleBuilder(props: BuilderProps) {
  const visit = useVisit();
  const { form, ruleId } = props;
  const { t } = visit;
  const action = visit.to(ruleId === null ? 'rules/new' : `rules/${ruleId}/versions`);
  const fields = fieldsOf(t);
  const { fields: texts, action: chosen, by, parts } = form;
  const values = { ...texts, action: chosen, by, parts };
  const part = (name: keyof typeof fields) => <Fields {...{ values, fields: fields[name] }} />;
  const group = (name: keyof typeof fields, legend: TextKey, hint?: TextKey) => (
    <FormGroup {...{ legend, hint }}>{part(name)}</FormGroup>
  );
  // Of a row, and of all of them, an error stands there too.
  const rows: FormFields = {
    condition: { label: 'ruleBuilder.conditions' },
    conditions: { label: 'ruleBuilder.conditions' },
  };
  const all = Object.assign({}, rows, ...Object.values(fields)) as FormFields;
  return (
    <div id="rule-builder">
      <FormProblem fields={all} />
      <Form action={action}>
        <FirstButton>{t('app.save')}</FirstButton>
        <Hidden
          values={{ ruleId: ruleId ?? '', ...(ruleId === null ? {} : { name: texts.name }) }}
        />
        <Sentence form={form} />
        <Card title={t('ruleBuilder.whichRule')}>
          {ruleId === null && part('name')}
          {part('priority')}
        </Card>
        <Card title={t('ruleBuilder.conditions')}>
          <Muted>{t('ruleBuilder.conditionsHint')}</Muted>
          <Conditions {...props} />
        </Card>
        <Card title={t('ruleBuilder.outcome')}>
          {part('action')}
          <ForChoice of="classify">
            {group('classification', 'ruleBuilder.classification')}
          </ForChoice>
          <ForChoice of="match">
            {part('by')}
            {group('window', 'ruleMatch.window', 'ruleMatch.windowHint')}
            {part('parts')}
            <ForChoice of="tolerant">
              {group('tolerance', 'ruleMatch.tolerance', 'ruleMatch.toleranceHint')}
            </ForChoice>
            <ForChoice of="plan">{group('plan', 'ruleMatch.plan', 'ruleMatch.planHint')}</ForChoice>
            <ForChoice of="net-settlement">
              {group('netSettlement', 'ruleMatch.netSettlement', 'ruleMatch.netSettlementHint')}
            </ForChoice>
          </ForChoice>
          {group('coding', 'expectedPayment.accounting', 'ruleBuilder.codingHint')}
        </Card>
        <Card title={t('ruleBuilder.finish')}>
          {part('reason')}
          <Muted>{t('ruleBuilder.draftHint')}</Muted>
          <button>{t('ruleBuilder.finish')}</button>
        </Card>
      </Form>
    </div>
  );
}

/** What the rule does so far. It is read again when a field changes. */
export function Sentence({ form }: Pick<BuilderProps, 'form'>) {
  const visit = useVisit();
  const { t } = visit;
  const { when, then } = termsSoFar(form);
  const options = sentenceOptions(visit);
  return (
    <Message
      id="rule-sentence"
      kind="plain"
      hx-post={visit.to('rules/preview')}
      hx-trigger="change from:closest form delay:200ms, keyup from:closest form delay:500ms"
      hx-include="closest form"
      hx-swap="outerHTML"
    >
      <strong>{t('ruleBuilder.sentence')}</strong>{' '}
      {when ? linesCovered(when, options) : t('ruleBuilder.conditionsUnfinished')}{' '}
      {then ? whatHappens(then, options) : t('ruleBuilder.outcomeUnfinished')}
    </Message>
  );
}

const emptyRow: ConditionRow = { kind: '', value: '' };

function Conditions({ form: { conditions } }: BuilderProps) {
  const { t, to, problem } = useVisit();
  // The last row is empty: it takes the next condition.
  const last = conditions.at(-1);
  const hasEmptyRow = last?.kind === '' && last.value === '';
  const rows = hasEmptyRow ? conditions : [...conditions, emptyRow];
  const errorOf = (name: string) => ({ name, error: problem?.details.errors?.[name]?.[0] });
  // A button that asks for the form again, with a row more or less.
  const preview = to('rules/preview');
  const rowButton = {
    ...{ name: 'do', formAction: preview, formNoValidate: true },
    ...{ 'hx-post': preview, 'hx-target': '#rule-builder', 'hx-swap': 'outerHTML' },
  } as const;
  return (
    <>
      <FieldErrorText {...errorOf('conditions')} />
      {rows.map(({ kind, value }, index) => {
        const wrong = errorOf(`condition.${index}`);
        return (
          <Row is="condition">
            <label>
              <Hint>{t('ruleBuilder.condition', { number: index + 1 })}</Hint>
              <select name="condition">
                <option value="">{t('ruleBuilder.noCondition')}</option>
                {ruleConditionKinds.map((one) => (
                  <option value={one} selected={one === kind}>
                    {t(`ruleCondition.${one}`)}
                  </option>
                ))}
              </select>
            </label>
            <label>
              <Hint>{t('ruleBuilder.value', { number: index + 1 })}</Hint>
              <input name="value" value={value} {...errorMarks(wrong.name, wrong.error)} />
              <FieldErrorText {...wrong} />
            </label>
            <Button
              is="plain"
              {...{ ...rowButton, value: `remove ${index}` }}
              aria-label={t('ruleBuilder.removeCondition', { number: index + 1 })}
            >
              {t('word.remove')}
            </Button>
          </Row>
        );
      })}
      <Button is="plain" {...{ ...rowButton, value: 'add', id: 'add-condition' }}>
        {t('ruleBuilder.addCondition')}
      </Button>
    </>
  );
}
