// The forms of what people do with a version of a rule.
import type { JSX } from 'preact';
import { Field, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';

interface FormProps {
  visit: Visit;
  ruleId: string;
  version: number;
}

/** Chooses the period of a trial and starts it. */
export function TrialForm({ visit, ruleId, version }: FormProps): JSX.Element {
  const { t } = visit;
  return (
    <Form visit={visit} action={pathTo(visit, `rules/${ruleId}/try`)}>
      <p class="hint">
        {t('ruleTrial.startHint')} {t('ruleTrial.periodHint')}
      </p>
      <input type="hidden" name="version" value={version} />
      <div class="row">
        <Field label={t('ruleTrial.from')} name="from" type="date" />
        <Field label={t('ruleTrial.to')} name="to" type="date" />
        <button>{t('ruleTrial.start')}</button>
      </div>
    </Form>
  );
}

/** Activates the version that was tried. `shown` is the trial that the person sees. */
export function ActivateForm({
  visit,
  ruleId,
  version,
  trialId,
}: FormProps & { trialId: string }): JSX.Element {
  const { t } = visit;
  return (
    <Form visit={visit} action={pathTo(visit, `rules/${ruleId}/activate`)} shown={trialId}>
      <p>{t('ruleTrial.acceptHint', { version })}</p>
      <input type="hidden" name="version" value={version} />
      <ReasonAnd visit={visit} button={t('ruleTrial.activate', { version })} />
    </Form>
  );
}

export function RetireForm({ visit, ruleId, version }: FormProps): JSX.Element {
  const { t } = visit;
  return (
    <Form
      visit={visit}
      action={pathTo(visit, `rules/${ruleId}/retire`)}
      shown={`version ${version}`}
    >
      <p class="hint">{t('rules.retireHint')}</p>
      <input type="hidden" name="version" value={version} />
      <ReasonAnd visit={visit} button={t('rules.retire')} />
    </Form>
  );
}

export function ReorderForm({
  visit,
  ruleId,
  version,
  priority,
}: FormProps & { priority: number }): JSX.Element {
  const { t } = visit;
  return (
    <Form
      visit={visit}
      action={pathTo(visit, `rules/${ruleId}/reorder`)}
      shown={`version ${version}`}
    >
      <p class="hint">{t('rules.reorderHint')}</p>
      <input type="hidden" name="version" value={version} />
      <div class="row">
        <Field
          label={t('rules.order')}
          name="priority"
          type="number"
          min={0}
          max={100_000}
          value={priority}
          required
        />
        <Field label={t('app.reason')} name="reason" maxLength={300} required />
        <button class="plain">{t('rules.reorder')}</button>
      </div>
    </Form>
  );
}

function ReasonAnd({ visit: { t }, button }: { visit: Visit; button: string }) {
  return (
    <div class="row">
      <Field label={t('app.reason')} name="reason" maxLength={300} required />
      <button>{button}</button>
    </div>
  );
}
