// The fields of a rule that matches lines: what must agree, which differences are tolerated, and
// how lines and expected payments are put together.
import type { JSX } from 'preact';
import { criteria, salesGroups } from '../../reconciliation/decide/rule.js';
import {
  CheckedField,
  CheckedSelect,
  FieldProblem,
  FieldGroup,
  type FormErrors,
} from '../kit/form-fields.js';
import type { TextKey } from '../texts.js';
import type { Visit } from '../requests.js';
import { partKinds, type PlainField, type RuleForm } from './rule-form.js';

interface Props {
  visit: Visit;
  form: RuleForm;
  errors: FormErrors;
}

export function MatchFields(props: Props): JSX.Element {
  const { visit, form, errors } = props;
  const { t } = visit;
  return (
    <div class="if-match">
      <FieldGroup visit={visit} legend="ruleMatch.by" hint="ruleMatch.byHint">
        {criteria.map((one) => (
          <label class="choice">
            <input type="checkbox" name="by" value={one} checked={form.by.includes(one)} />
            {t(`ruleMatch.by.${one}`)}
          </label>
        ))}
        <FieldProblem visit={visit} name="by" errors={errors} />
      </FieldGroup>
      <FieldGroup visit={visit} legend="ruleMatch.window" hint="ruleMatch.windowHint">
        <Numbers {...props} names={['daysBefore', 'daysAfter']} />
      </FieldGroup>
      <FieldGroup visit={visit} legend="ruleMatch.parts">
        {partKinds.map((one) => (
          <label class="choice">
            <input type="radio" name="parts" value={one} checked={form.parts === one} />
            {t(`ruleParts.${one}`)}
          </label>
        ))}
        <FieldProblem visit={visit} name="parts" errors={errors} />
      </FieldGroup>
      <FieldGroup
        visit={visit}
        legend="ruleMatch.tolerance"
        hint="ruleMatch.toleranceHint"
        kind="if-tolerant"
      >
        <Numbers {...props} names={['toleranceAmount', 'tolerancePercent', 'toleranceMax']} />
      </FieldGroup>
      <FieldGroup visit={visit} legend="ruleMatch.plan" hint="ruleMatch.planHint" kind="if-plan">
        <Numbers {...props} names={['planCount', 'planInterval', 'planToleranceDays']} />
      </FieldGroup>
      <FieldGroup
        visit={visit}
        legend="ruleMatch.netSettlement"
        hint="ruleMatch.netSettlementHint"
        kind="if-net-settlement"
      >
        <CheckedSelect
          {...{ visit, errors, name: 'groupBy', label: 'ruleMatch.groupBy' }}
          options={salesGroups.map((one) => [one, t(`ruleMatch.groupBy.${one}`)])}
          chosen={form.fields.groupBy}
        />
        <Numbers {...props} names={['feePercentMin', 'feePercentMax']} />
        <Numbers {...props} names={['feePerSaleMin', 'feePerSaleMax']} />
      </FieldGroup>
    </div>
  );
}

type NumberField = Exclude<
  PlainField,
  'name' | 'priority' | 'category' | 'categoryReason' | 'groupBy' | 'reason'
>;

function Numbers({ visit, form, errors, names }: Props & { names: readonly NumberField[] }) {
  return (
    <div class="row top">
      {names.map((name) => (
        <CheckedField
          {...{ visit, errors, name, label: `ruleMatch.${name}` satisfies TextKey }}
          value={form.fields[name]}
          inputMode="decimal"
        />
      ))}
    </div>
  );
}
