// The forms of the actions on a break. Each says what it does, and asks for a reason.
import type { JSX } from 'preact';
import { refundOfKind } from '../../reconciliation/decide/break-kinds.js';
import { formatAmount } from '../formats.js';
import { Field, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { pathTo, typed } from '../visit.js';
import { freeParts } from './action-forms.js';
import type { BreakFacts, BreakViewProps } from './break-facts.js';
import { amountOf, partyOf } from './break-words.js';
import { keyOfAction, linkedBy, type PageAction } from './open-actions.js';
import { Key } from './shortcuts.js';

type Props = Pick<BreakViewProps, 'visit' | 'facts'>;

/** All but the link, which stands below the candidates. */
export function ActionForms({
  actions,
  ...props
}: BreakViewProps & { actions: readonly PageAction[] }): JSX.Element {
  const { visit, facts } = props;
  const others = actions.filter((action) => action !== 'link');
  const isSplittable = actions.includes('link') && linkedBy(facts.found) === 'expectedPaymentId';
  return (
    <section class="card actions">
      <h2>{visit.t('breaks.actions')}</h2>
      {others.map((action) => (
        <ActionForm {...props} action={action} />
      ))}
      {isSplittable && <SplitForm {...props} />}
    </section>
  );
}

function ActionForm({ action, ...props }: BreakViewProps & { action: PageAction }) {
  const { visit, facts, address } = props;
  const { t } = visit;
  const { id, kind, version } = facts.found;
  const needsAmount = refundOfKind(kind) === 'with amount';
  const isRetried = retriedAction(visit) === action;
  return (
    <details open={isRetried} data-key={keyOfAction[action]} data-focus={`${action}-reason`}>
      <summary>
        {t(`breaks.action.${action}`)} <Key of={keyOfAction[action]} />
      </summary>
      <p class="hint">{t(`breaks.effect.${action}`)}</p>
      <Form
        visit={visit}
        action={`${pathTo(visit, `breaks/${id}/${action}`)}?${address.toString()}`}
        shown={version}
      >
        <div class="row">
          <ReasonOf visit={visit} action={action} />
          {action === 'refund' && (
            <Field
              label={t('breaks.refundAmount')}
              hint={needsAmount ? undefined : t('breaks.refundHint')}
              name="amount"
              inputMode="decimal"
              autocomplete="off"
              required={needsAmount}
              value={typed(visit, 'amount')}
            />
          )}
          <button>{t(`breaks.action.${action}`)}</button>
        </div>
      </Form>
    </details>
  );
}

/** The action whose form was sent and refused: its fields are shown as they were. */
function retriedAction({ path, form }: Visit): string {
  return form.has('split') ? 'split' : (path.split('/').at(-1) ?? '');
}

function ReasonOf({ visit, action }: { visit: Visit; action: PageAction | 'split' }) {
  const value = retriedAction(visit) === action ? typed(visit, 'reason') : '';
  return <ReasonField visit={visit} of={action} value={value} />;
}

export function ReasonField({
  visit: { t },
  of,
  value,
}: {
  visit: Visit;
  of: PageAction | 'split' | 'bulk';
  value: string;
}): JSX.Element {
  return (
    <Field
      id={`${of}-reason`}
      label={t('app.reason')}
      hint={t('breaks.reasonHint')}
      name="reason"
      required
      minLength={3}
      maxLength={500}
      autocomplete="off"
      value={value}
    />
  );
}

/** Below the candidates: another one, the reason, and the button. */
export function LinkFields({ visit, facts: { found } }: Props): JSX.Element {
  const { t } = visit;
  const isLine = linkedBy(found) === 'nsu';
  return (
    <div class="link-fields" data-key={keyOfAction.link} data-focus="link-reason">
      <p class="hint">{t('breaks.effect.link')}</p>
      <div class="row">
        <Field
          label={t(isLine ? 'breaks.otherLine' : 'breaks.otherPayment')}
          name="other"
          autocomplete="off"
          value={typed(visit, 'other')}
        />
        <ReasonOf visit={visit} action="link" />
        <button>
          {t('breaks.action.link')} <Key of={keyOfAction.link} />
        </button>
      </div>
    </div>
  );
}

/** One line that pays several expected payments. */
function SplitForm({ visit, facts, address }: BreakViewProps) {
  const { t } = visit;
  const { found, lines } = facts;
  const line = lines.get(found.nsu ?? 0n);
  if (!line) return null;
  const candidates = found.candidates.filter(({ expectedPaymentId }) => expectedPaymentId !== null);
  return (
    <details open={retriedAction(visit) === 'split'}>
      <summary>{t('breaks.split')}</summary>
      <p class="hint">{t('breaks.split.hint', { amount: formatAmount(line.amountCents) })}</p>
      <Form
        visit={visit}
        action={`${pathTo(visit, `breaks/${found.id}/link`)}?${address.toString()}`}
        shown={found.version}
      >
        <input type="hidden" name="split" value="1" />
        {candidates.map((candidate, index) => (
          <SplitPart visit={visit} number={index} of={candidate} />
        ))}
        {Array.from({ length: freeParts }, (_, index) => (
          <SplitPart visit={visit} number={candidates.length + index} of={null} />
        ))}
        <div class="row">
          <ReasonOf visit={visit} action="split" />
          <button>{t('breaks.split')}</button>
        </div>
      </Form>
    </details>
  );
}

function SplitPart({
  visit,
  number,
  of,
}: {
  visit: Visit;
  number: number;
  of: BreakFacts['found']['candidates'][number] | null;
}) {
  const { t } = visit;
  const label = t('breaks.split.part', { number: number + 1 });
  return (
    <fieldset class="row">
      <legend>
        {label}
        {of && ` · ${amountOf(t, of.amount)} · ${partyOf(visit, of.counterparty)}`}
      </legend>
      {of ? (
        <input type="hidden" name={`id${number}`} value={of.expectedPaymentId ?? ''} />
      ) : (
        <Field
          label={t('breaks.split.id')}
          name={`id${number}`}
          autocomplete="off"
          value={typed(visit, `id${number}`)}
        />
      )}
      <Field
        label={t('breaks.split.amount')}
        name={`part${number}`}
        inputMode="decimal"
        autocomplete="off"
        value={typed(visit, `part${number}`)}
      />
    </fieldset>
  );
}
