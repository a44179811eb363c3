// One payment that awaits approval, as the approver must see it: everything that is approved, and
// what speaks for or against it.
import { accountIn } from '../requested-payment.js';
import { printDay } from '../../brazil/printed-text.js';
import { unknownParty } from '../../access/counterparties/party.js';
import { stringify } from 'lossless-json';
import type { ComponentChildren } from 'preact';
import { maskParty } from '../../access/counterparties/masking.js';
import type { LimitInUse } from '../../outbound/payment-controls/control-changes.service.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import {
  badgeOf,
  Amount,
  Badge,
  Card,
  Code,
  Empty,
  FactList,
  Timeline,
  Message,
  Folded,
  Hint,
  Muted,
} from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { ListTable } from '../kit/table.js';
import { useVisit } from '../visit.js';
import type { TextKey } from '../texts.js';
import type { ApprovalFacts } from './approval-facts.service.js';
import type { Waiting } from './waiting-approvals.service.js';
import { kindText, PayeeCell, Source } from './waiting-table.js';

export interface DetailProps {
  waiting: Waiting;
  facts: ApprovalFacts;
  nameOf: NameOfActor;
}

type Fact = readonly [TextKey, ComponentChildren];

export function PaymentFacts({ waiting, facts }: Omit<DetailProps, 'nameOf'>) {
  const visit = useVisit();
  const { amountCents, kind, payment } = waiting;
  const { isKnownPayee, lastPaid, payeeCheck } = facts;
  const shown: Fact[] = [
    ['word.amount', amountCents !== null && <Amount cents={amountCents} />],
    ['word.kind', kindText(visit, kind)],
    ['approvals.payee', <PayeeCell waiting={waiting} />],
  ];
  if (waiting.beneficiaryName !== null)
    shown.push(['approvals.beneficiary', waiting.beneficiaryName]);
  if (isKnownPayee !== null)
    shown.push([
      'approvals.paidBefore',
      <Badge
        tone={isKnownPayee ? 'good' : 'warn'}
        text={visit.t(isKnownPayee ? 'app.yes' : 'approvals.new')}
      />,
    ]);
  if (lastPaid !== null && payment.party.name === null)
    shown.push([
      'approvals.lastName',
      visit.t('approvals.lastNameOn', { name: lastPaid.name, day: printDay(lastPaid.day) }),
    ]);
  if (payeeCheck) shown.push(['approvals.payeeCheck', <CheckBadge state={payeeCheck.result} />]);
  if (payment.description !== null) shown.push(['word.description', payment.description]);
  if (payment.payAt !== null) shown.push(['approvals.payAt', payment.payAt]);
  return <FactList title="word.payment" facts={shown} />;
}

const CheckBadge = badgeOf('approvals.check', {
  ...{ confirmed: 'good', not_confirmed: 'bad', not_asked: 'warn' },
  ...{ holder_changed: 'bad', expired: 'bad' },
});

export function RequestFacts({ waiting, nameOf }: Omit<DetailProps, 'facts'>) {
  const { t, time } = useVisit();
  const { requestedBy, createdAt, condition, given, needed, expiresAt } = waiting;
  return (
    <FactList
      title="approvals.request"
      facts={[
        ['word.requestedBy', nameOf(requestedBy)],
        ['approvals.requestedAt', time(createdAt)],
        ['word.source', <Source waiting={waiting} />],
        ['approvals.why', t(`approvals.condition.${condition}`)],
        ['section.approvals', t('approvals.givenOf', { given, needed })],
        ['approvals.expires', time(expiresAt)],
      ]}
    />
  );
}

/** A bar of each limit, with its figures in words. */
export function Limits({ limits }: { limits: readonly LimitInUse[] }) {
  const { t } = useVisit();
  if (limits.length === 0)
    return (
      <Card title={t('controls.limits')}>
        <Empty>{t('controls.noLimits')}</Empty>
      </Card>
    );
  const facts = limits.map(({ name, limitCents, usedCents }): Fact => [
    `controls.limit.${name}`,
    <>
      <Amount cents={limitCents} />
      {usedCents !== null && <LimitBar {...{ name, limitCents, usedCents }} />}
    </>,
  ]);
  return <FactList {...{ title: 'controls.limits', facts }} />;
}

function LimitBar({
  name,
  limitCents,
  usedCents,
}: {
  name: LimitInUse['name'];
  limitCents: bigint;
  usedCents: bigint;
}) {
  const { t } = useVisit();
  const left = usedCents < limitCents ? limitCents - usedCents : 0n;
  // A bar shows parts of a thousand: amounts may be larger than what a number holds exactly.
  const part = limitCents === 0n ? 1_000 : Number((usedCents * 1_000n) / limitCents);
  return (
    <>
      <progress
        {...{ value: Math.min(part, 1_000), max: 1_000 }}
        aria-label={t(`controls.limit.${name}`)}
      />
      <Hint isBlock>
        {t('controls.usedLeft', { used: formatAmount(usedCents), left: formatAmount(left) })}
      </Hint>
    </>
  );
}

/** Payments of the same amount to the same account. */
export function Similar({ facts: { similar } }: Pick<DetailProps, 'facts'>) {
  const { t, time, to } = useVisit();
  if (similar.length === 0) return null;
  return (
    <Message kind="warn">
      {t('approvals.similar')}
      <ul>
        {similar.map(({ id, state, createdAt }) => (
          <li>
            <a href={to(`operations/${id}`)}>{time(createdAt)}</a> {t(`approvals.state.${state}`)}
          </li>
        ))}
      </ul>
    </Message>
  );
}

const maxPayeesShown = 200;

/** The transfers of a batch. */
export function BatchItems({ facts: { payees } }: Pick<DetailProps, 'facts'>) {
  const { t, may } = useVisit();
  if (payees.length === 0) return null;
  const isVisible = may('see personal data');
  const accountOfPayee = (counterparty: string) => {
    const party = { ...unknownParty, ...accountIn(counterparty) };
    return (isVisible ? party : maskParty(party)).account;
  };
  return (
    <Card title={t('approvals.batchOf', { count: payees.length })}>
      <ListTable
        {...{ name: 'approvals.payees', rows: payees.slice(0, maxPayeesShown) }}
        columns={{
          'word.account': { wide: ({ counterparty }) => accountOfPayee(counterparty) },
          'word.amount': { cents: ({ amountCents }) => amountCents },
        }}
      />
      {payees.length > maxPayeesShown && <Muted>{t('approvals.moreItems')}</Muted>}
    </Card>
  );
}

export function Decisions({ facts, nameOf }: Pick<DetailProps, 'facts' | 'nameOf'>) {
  const { t } = useVisit();
  const { decisions } = facts.detail.approval;
  return (
    <Card title={t('word.decisions')}>
      {decisions.length === 0 ? (
        <Empty>{t('approvals.noDecisions')}</Empty>
      ) : (
        <Timeline
          entries={decisions.map(({ actor, decision, reason, at, counts }) => ({
            at,
            tone: decision === 'decline' ? 'bad' : counts ? 'good' : 'warn',
            title: t(`approvals.decided.${decision}`, { name: nameOf(actor) }),
            detail: (
              <>
                {reason}
                {!counts && <Hint isBlock>{t('approvals.countsNoMore')}</Hint>}
              </>
            ),
          }))}
        />
      )}
    </Card>
  );
}

/** The request as the bank will get it. */
export function ExactRequest({ facts }: Pick<DetailProps, 'facts'>) {
  const { t } = useVisit();
  const { request, approval } = facts.detail;
  return (
    <Folded title={t('approvals.exactRequest')}>
      <Muted>
        {t('approvals.hash')} <code>{approval.requestHash}</code>
      </Muted>
      <Code text={stringify(request, null, 2) ?? ''} />
    </Folded>
  );
}
