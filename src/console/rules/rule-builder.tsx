// The form that builds a version of a rule, with the sentence that says what it does.
import type { JSX } from 'preact';
import { declaredCategories } from '../../reconciliation/decide/rule.js';
import { Card } from '../kit/elements.js';
import {
  CheckedField,
  CheckedSelect,
  describedBy,
  FieldProblem,
  FieldGroup,
  FormErrorSummary,
} from '../kit/form-fields.js';
import { Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { isAllowedTo, pathTo } from '../visit.js';
import { ruleConditionKinds, type ConditionRow, type RuleForm } from './rule-form.js';
import { MatchFields } from './rule-match-fields.js';
import { termsSoFar, type RuleFormErrors } from './rule-request.js';
import { linesCovered, whatHappens } from './rule-sentence.js';

export interface BuilderProps {
  visit: Visit;
  form: RuleForm;
  errors: RuleFormErrors;
  /** The rule that gets another version; null for a new rule. */
  ruleId: string | null;
}

/** The whole form. `#rule-builder` is the part that a row's buttons exchange. */
export function RuleBuilder(props: BuilderProps): JSX.Element {
  const { visit, form, errors, ruleId } = props;
  const { t } = visit;
  const action = pathTo(visit, ruleId === null ? 'rules/new' : `rules/${ruleId}/versions`);
  return (
    <div id="rule-builder">
      <FormErrorSummary visit={visit} errors={errors} />
      <Form visit={visit} action={action}>
        {/* Enter in a field sends the first button of a form. */}
        <button class="first-submit" tabindex={-1} aria-hidden="true">
          {t('app.save')}
        </button>
        <input type="hidden" name="ruleId" value={ruleId ?? ''} />
        <Sentence visit={visit} form={form} />
        <Card title={t('ruleBuilder.whichRule')}>
          <div class="row top">
            {ruleId === null ? (
              <CheckedField
                {...{ visit, errors, name: 'name', label: 'ruleBuilder.name' }}
                value={form.fields.name}
                maxLength={100}
                required
              />
            ) : (
              <input type="hidden" name="name" value={form.fields.name} />
            )}
            <CheckedField
              {...{ visit, errors, name: 'priority', label: 'rules.order' }}
              hint="ruleBuilder.priorityHint"
              value={form.fields.priority}
              inputMode="numeric"
              required
            />
          </div>
        </Card>
        <Card title={t('ruleBuilder.conditions')}>
          <p class="hint">{t('ruleBuilder.conditionsHint')}</p>
          <Conditions {...props} />
        </Card>
        <Outcome {...props} />
        <Card title={t('ruleBuilder.finish')}>
          <CheckedField
            {...{ visit, errors, name: 'reason', label: 'app.reason' }}
            hint="ruleBuilder.reasonHint"
            value={form.fields.reason}
            maxLength={300}
            required
          />
          <p class="hint">{t('ruleBuilder.draftHint')}</p>
          <button>{t('ruleBuilder.save')}</button>
        </Card>
      </Form>
    </div>
  );
}

/** What the rule does so far. It is read again when a field changes. */
export function Sentence({ visit, form }: Pick<BuilderProps, 'visit' | 'form'>): JSX.Element {
  const { t } = visit;
  const { when, then } = termsSoFar(form);
  const options = { t, isVisible: isAllowedTo(visit, 'see personal data') };
  return (
    <div
      id="rule-sentence"
      class="notice plain"
      role="status"
      hx-post={pathTo(visit, 'rules/preview')}
      hx-trigger="change from:closest form delay:200ms, keyup from:closest form delay:500ms"
      hx-include="closest form"
      hx-swap="outerHTML"
    >
      <strong>{t('ruleBuilder.sentence')}</strong>{' '}
      {when ? linesCovered(when, options) : t('ruleBuilder.conditionsUnfinished')}{' '}
      {then ? whatHappens(then, options) : t('ruleBuilder.outcomeUnfinished')}
    </div>
  );
}

const emptyRow: ConditionRow = { kind: '', value: '' };

function Conditions({ visit, form, errors }: BuilderProps) {
  const { t } = visit;
  const { conditions } = form;
  // The last row is empty: it takes the next condition.
  const last = conditions.at(-1);
  const hasEmptyRow = last?.kind === '' && last.value === '';
  const rows: readonly ConditionRow[] = hasEmptyRow ? conditions : [...conditions, emptyRow];
  return (
    <>
      <FieldProblem visit={visit} name="conditions" errors={errors} />
      {rows.map((row, index) => (
        <ConditionFields {...{ visit, row, index, errors }} />
      ))}
      <button {...rowButton(visit)} class="plain" name="do" value="add" id="add-condition">
        {t('ruleBuilder.addCondition')}
      </button>
    </>
  );
}

/** A button that asks for the form again, with a row more or less. */
function rowButton(visit: Visit) {
  const preview = pathTo(visit, 'rules/preview');
  return {
    formAction: preview,
    formNoValidate: true,
    'hx-post': preview,
    'hx-target': '#rule-builder',
    'hx-swap': 'outerHTML',
  };
}

function ConditionFields({
  visit,
  row: { kind, value },
  index,
  errors,
}: Pick<BuilderProps, 'visit' | 'errors'> & { row: ConditionRow; index: number }) {
  const { t } = visit;
  const number = index + 1;
  const name = `condition.${index}`;
  return (
    <div class="row condition">
      <label>
        <span class="hint">{t('ruleBuilder.condition', { number })}</span>
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
        <span class="hint">{t('ruleBuilder.value', { number })}</span>
        <input name="value" value={value} {...describedBy(name, errors.get(name))} />
        <FieldProblem visit={visit} name={name} errors={errors} />
      </label>
      <button
        {...rowButton(visit)}
        class="plain"
        name="do"
        value={`remove ${index}`}
        aria-label={t('ruleBuilder.removeCondition', { number })}
      >
        {t('ruleBuilder.remove')}
      </button>
    </div>
  );
}

function Outcome(props: BuilderProps) {
  const { visit, form, errors } = props;
  const { t } = visit;
  const choice = (action: RuleForm['action']) => (
    <label class="choice">
      <input type="radio" name="action" value={action} checked={form.action === action} />
      {t(`ruleBuilder.action.${action}`)}
    </label>
  );
  return (
    <Card title={t('ruleBuilder.outcome')}>
      <FieldGroup visit={visit} legend="ruleBuilder.action">
        {choice('classify')}
        {choice('match')}
        <FieldProblem visit={visit} name="action" errors={errors} />
      </FieldGroup>
      <FieldGroup visit={visit} legend="ruleBuilder.classification" kind="if-classify">
        <div class="row top">
          <CheckedSelect
            {...{ visit, errors, name: 'category', label: 'ruleBuilder.category' }}
            options={declaredCategories.map((one) => [one, t(`ruleCategory.${one}`)])}
            chosen={form.fields.category}
          />
          <CheckedField
            {...{ visit, errors, name: 'categoryReason', label: 'ruleBuilder.categoryReason' }}
            value={form.fields.categoryReason}
            maxLength={300}
          />
        </div>
      </FieldGroup>
      <MatchFields {...props} />
    </Card>
  );
}
