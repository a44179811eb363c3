// The forms of the actions on a break. Each says what it does, and asks for a reason.
import { refundOfKind } from '../../reconciliation/decide/break-kinds.js';
import { formatAmount } from '../formats.js';
import { ActionCard } from '../kit/break-parts.js';
import { FieldForm, Fields, Hidden, Form, type FormFields, reasonField } from '../kit/form.js';
import { Button, Muted } from '../kit/elements.js';
import { useVisit, type Visit } from '../visit.js';
import { freeParts } from './action-forms.js';
import type { BreakViewProps, Candidate, GivenCode } from './break-facts.js';
import { amountOf, kindOf, partyOf } from './break-words.js';
import { keyOfAction, linkedBy, type PageAction } from './open-actions.js';
import { PlanForms } from './plan-forms.js';
import { Key } from './shortcuts.js';

/** All but the link, which stands below the candidates. */
export function ActionForms({
  actions,
  ...props
}: BreakViewProps & { actions: readonly PageAction[] }) {
  const { facts } = props;
  const { t } = useVisit();
  const others = actions.filter((action) => action !== 'link');
  const isSplittable = actions.includes('link') && linkedBy(facts.found) === 'expectedPaymentId';
  return (
    <ActionCard title={t('breaks.actions')}>
      {others.map((action) => (
        <ActionForm {...props} action={action} />
      ))}
      {isSplittable && <SplitForm {...props} />}
      <PlanForms
        {...{ ids: [facts.found.id], plan: facts.found, people: facts.people }}
        {...{ isOpen: facts.found.state === 'open', address: props.address }}
      />
    </ActionCard>
  );
}

function ActionForm({ action, ...props }: BreakViewProps & { action: PageAction }) {
  const { facts, address } = props;
  const visit = useVisit();
  const { t } = visit;
  const { id, kind, version } = facts.found;
  const needsAmount = refundOfKind(kind) === 'with amount';
  const amount: FormFields = {
    amount: {
      ...{ label: 'word.refundAmount', is: 'amount', required: needsAmount },
      ...(needsAmount ? {} : { hint: 'breaks.refundHint' }),
    },
  };
  const fields = {
    ...reasonOf(action),
    ...(isCoded(action) ? reasonCodeOf(visit, facts.reasonCodes) : {}),
    ...(action === 'refund' ? amount : {}),
  };
  return (
    <details
      open={retriedAction(visit) === action}
      data-key={keyOfAction[action]}
      data-focus={`${action}-reason`}
    >
      <summary>
        {t(`breaks.action.${action}`)} <Key of={keyOfAction[action]} />
      </summary>
      <FieldForm
        {...{ fields, shown: version, isSent: retriedAction(visit) === action }}
        action={`${visit.to(`breaks/${id}/${stepOf(action)}`)}?${address.toString()}`}
        values={action === 'refund' ? { reason: kindOf(t, kind) } : {}}
        intro={`breaks.effect.${action}`}
        button={`breaks.action.${action}`}
      />
    </details>
  );
}

/** What moves money is confirmed first. */
const stepOf = (action: PageAction) =>
  action === 'refund' || action === 'resend' ? `${action}/confirm` : action;

/**
 * The action whose form was sent and refused: its fields are shown as they were. All forms of the
 * page have a reason.
 */
function retriedAction({ path, form }: Visit): string {
  const [action = ''] = path.split('/breaks/')[1]?.split('/').slice(1) ?? [];
  return form.has('split') ? 'split' : action;
}

/** Why it is done. A key leads to it by its id. */
export const reasonOf = (of: PageAction | 'split' | 'bulk'): FormFields => ({
  reason: { ...reasonField.reason, hint: 'breaks.reasonHint', minLength: 3, id: `${of}-reason` },
});

/** Whether it says what the money is. */
export const isCoded = (action: string) => action === 'accept' || action === 'note';

/** The list of the account's reason codes; nothing where it has none. */
export function reasonCodeOf({ t }: Visit, reasonCodes: readonly GivenCode[]): FormFields {
  if (reasonCodes.length === 0) return {};
  const options = reasonCodes.map(({ code, name }) => [code, `${code} · ${name}`] as const);
  return {
    reasonCode: {
      ...{ label: 'breaks.reasonCode', is: 'choice' },
      options: [['', t('breaks.noReasonCode')], ...options],
    },
  };
}

/** Beside the candidates. Where the first is chosen already: one key and a confirmation. */
export function LinkFields({
  facts,
  isProposed,
}: Pick<BreakViewProps, 'facts'> & { isProposed: boolean }) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <div data-key={keyOfAction.link} data-focus="link-reason">
      <Muted>{t('breaks.effect.link')}</Muted>
      <Fields
        isSent={retriedAction(visit) === 'link'}
        fields={{ ...reasonOf('link'), ...reasonCodeOf(visit, facts.reasonCodes) }}
        values={isProposed ? { reason: t('breaks.reasonOfLink') } : {}}
      />
      <Button {...(isProposed ? {} : { is: 'plain' })}>
        {t('breaks.action.link')} <Key of={keyOfAction.link} />
      </Button>
    </div>
  );
}

/** One line that pays several expected payments. */
function SplitForm({ facts, address }: BreakViewProps) {
  const visit = useVisit();
  const { t } = visit;
  const { found, lines, picked } = facts;
  const line = lines.get(found.nsu ?? 0n);
  if (!line) return null;
  const candidates = [...(picked?.candidates ?? []), ...found.candidates].filter(
    ({ expectedPaymentId }) => expectedPaymentId !== null,
  );
  return (
    <details open={retriedAction(visit) === 'split'}>
      <summary>{t('breaks.split')}</summary>
      <Muted>{t('breaks.split.hint', { amount: formatAmount(line.amountCents) })}</Muted>
      <Form
        action={`${visit.to(`breaks/${found.id}/link`)}?${address.toString()}`}
        shown={found.version}
      >
        <Hidden values={{ split: '1' }} />
        {candidates.map((candidate, index) => (
          <SplitPart number={index} of={candidate} />
        ))}
        {Array.from({ length: freeParts }, (_, index) => (
          <SplitPart number={candidates.length + index} of={null} />
        ))}
        <Fields
          isSent={retriedAction(visit) === 'split'}
          fields={{ ...reasonOf('split'), ...reasonCodeOf(visit, facts.reasonCodes) }}
        />
        <button>{t('breaks.split')}</button>
      </Form>
    </details>
  );
}

function SplitPart({ number, of }: { number: number; of: Candidate | null }) {
  const visit = useVisit();
  const { t } = visit;
  const [id, amount] = [`id${number}`, `part${number}`];
  const fields: FormFields = {
    ...(of ? {} : { [id]: { label: 'breaks.split.id' } }),
    [amount]: { label: 'word.amount', is: 'amount' },
  };
  return (
    <fieldset>
      <legend>
        {t('breaks.split.part', { number: number + 1 })}
        {of && ` · ${amountOf(t, of.amount)} · ${partyOf(visit, of.counterparty)}`}
      </legend>
      {of && <Hidden values={{ [id]: of.expectedPaymentId ?? '' }} />}
      <Fields fields={fields} />
    </fieldset>
  );
}
