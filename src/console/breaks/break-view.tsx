// The page of one break, from what happened down to what happened before.
import type { ComponentChildren } from 'preact';
import {
  Amount,
  Card,
  Empty,
  FactList,
  Timeline,
  Cards,
  Hint,
  Id,
  Row,
  type TimelineEntry,
} from '../kit/elements.js';
import { printDay } from '../../brazil/printed-text.js';
import { codingNames, type Coding } from '../../statement/expected-payments/coding.js';
import { formatAmount } from '../formats.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey, type TextKey, wordOf } from '../texts.js';
import { ActionForms } from './action-forms-view.js';
import type { BreakFacts, BreakViewProps } from './break-facts.js';
import {
  amountOf,
  assigneeIn,
  type Assignee,
  BackToBreaks,
  BreakStateBadge,
  kindOf,
  partyOf,
  SeverityBadge,
} from './break-words.js';
import { Candidates } from './candidates.js';
import { Comments } from './comments.js';
import { EarlierMovementsCard } from './earlier-movements.js';
import { evidenceFacts, type EvidenceFact } from './evidence-facts.js';
import { openActions } from './open-actions.js';
import { SideCards } from './side-cards.js';
import { BreakShortcuts } from './shortcuts.js';

export function BreakView(props: BreakViewProps) {
  const { may } = useVisit();
  const { facts, mayRefund, isInQueue } = props;
  const canAct = may('resolve breaks');
  const actions = canAct ? openActions(facts.found, mayRefund) : [];
  return (
    <>
      <Ways {...props} />
      <Story {...props} />
      <Candidates {...props} canLink={actions.includes('link')} />
      {actions.length > 0 && <ActionForms {...props} actions={actions} />}
      <Cards>
        <BreakFactsCard facts={facts} />
        <Evidence facts={facts} />
        <SideCards facts={facts} />
      </Cards>
      <EarlierMovementsCard facts={facts} />
      <Comments {...props} canAct={canAct} />
      <History facts={facts} />
      {isInQueue || <BreakShortcuts actions={canAct ? actions : []} />}
    </>
  );
}

function Ways({ facts: { found, nextId }, address, isInQueue }: BreakViewProps) {
  const { t, to } = useVisit();
  const addressOf = (id: string) => {
    if (!isInQueue) return `${to(`breaks/${id}`)}?${address.toString()}`;
    const chosen = new URLSearchParams(address);
    chosen.set('break', id);
    return `${to('breaks')}?${chosen.toString()}`;
  };
  return (
    <Row is="ways">
      <BackToBreaks address={address} />
      {isInQueue && <a href={to(`breaks/${found.id}`)}>{t('breaks.ownPage')}</a>}
      {nextId !== null && (
        <a href={addressOf(nextId)} data-key="n">
          {t('breaks.next')}
        </a>
      )}
    </Row>
  );
}

interface Props {
  facts: BreakFacts;
}

function Story({ facts: { found }, isInQueue }: BreakViewProps) {
  const visit = useVisit();
  const { t } = visit;
  const why = findTextKey(`break.why.${found.kind}`);
  const todo = findTextKey(`break.todo.${found.kind}`);
  const who = [amountOf(t, found.amount), partyOf(visit, found.counterparty)].join(' · ');
  const title = isInQueue ? `${kindOf(t, found.kind)} · ${who}` : who;
  return (
    <Card title={<bdi>{title}</bdi>}>
      <p>
        <BreakStateBadge state={found.state} /> <SeverityBadge state={found.severity} />
      </p>
      {why && <p>{t(why, { amount: amountOf(t, found.amount) })}</p>}
      {todo && found.state === 'open' && (
        <p>
          <strong>{t('word.whatToDo')}</strong> {t(todo)}
        </p>
      )}
    </Card>
  );
}

function BreakFactsCard({ facts: { found, people } }: Props) {
  const visit = useVisit();
  const { t, time, to } = visit;
  const { amount, nsu, expectedPaymentId, openedAt, resolvedAt, resolution, ageDays } = found;
  const facts: (readonly [TextKey, ComponentChildren])[] = [
    ['word.amount', amount === null ? t('breaks.unknownAmount') : <Amount cents={amount} />],
    ['breaks.openedAt', time(openedAt)],
    ['breaks.age', t('breaks.days', { count: ageDays })],
  ];
  if (found.assignee !== null)
    facts.push(['breaks.assignee', assigneeIn(visit, people, found.assignee)]);
  if (found.snoozedUntil !== null)
    facts.push(['breaks.snoozedUntil', printDay(found.snoozedUntil)]);
  if (resolvedAt !== null) facts.push(['breaks.resolvedAt', time(resolvedAt)]);
  if (resolution !== null)
    facts.push(['breaks.resolution', wordOf(t, 'breaks.resolution', resolution)]);
  if (nsu !== null)
    facts.push(['breaks.line', <a href={to(`statement/${nsu}`)}>{`NSU ${nsu}`}</a>]);
  if (expectedPaymentId !== null)
    facts.push([
      'word.expectedPayment',
      <a href={to(`expected-payments/${expectedPaymentId}`)}>{expectedPaymentId.slice(0, 8)}</a>,
    ]);
  return <FactList title="word.facts" facts={facts} />;
}

function Evidence({ facts: { found } }: Props) {
  const facts = evidenceFacts(found.evidence).filter(
    // What is written for machines, such as the message of a parser, is left out.
    ({ format, text }) => format !== 'word' || findTextKey(`evidence.word.${text}`),
  );
  if (facts.length === 0) return null;
  return (
    <FactList
      title="breaks.evidence"
      facts={facts.map((fact) => [`evidence.${fact.name}`, <EvidenceValue fact={fact} />])}
    />
  );
}

function EvidenceValue({ fact: { format, text } }: { fact: EvidenceFact }) {
  const { t, time, to } = useVisit();
  switch (format) {
    case 'reais':
      return <>{writeReais(text)}</>;
    case 'cents':
      return <>{/^-?\d+$/.test(text) ? formatAmount(BigInt(text)) : text}</>;
    case 'day':
      return <>{writeDay(text)}</>;
    case 'time':
      return <>{time(new Date(text))}</>;
    case 'dayOrTime':
      return <>{text.includes('T') ? time(new Date(text)) : writeDay(text)}</>;
    case 'nsu':
      return <a href={to(`statement/${text}`)}>{text}</a>;
    case 'operation':
      return <a href={to(`operations/${text}`)}>{text.slice(0, 8)}</a>;
    case 'word':
      return <>{wordOf(t, 'evidence.word', text)}</>;
    case 'tariff':
      return <>{wordOf(t, 'tariffs.kind', text)}</>;
    case 'parts':
      return <Parts parts={JSON.parse(text) as EvidencePart[]} />;
    case 'period':
      return <>{text.length === 7 ? text.split('-').toReversed().join('/') : writeDay(text)}</>;
    case 'source':
      return <>{wordOf(t, 'breaks.source', text, 'breaks.source.other')}</>;
    default:
      return <Id>{text}</Id>;
  }
}

interface EvidencePart {
  kind: string;
  expectedCents: string;
  actualCents: string;
}

function Parts({ parts }: { parts: EvidencePart[] }) {
  const { t } = useVisit();
  return (
    <>
      {parts.map(({ kind, expectedCents, actualCents }) => (
        <div>
          {t('breaks.differentPart', {
            part: wordOf(t, 'paymentPart', kind),
            expected: formatAmount(BigInt(expectedCents)),
            actual: formatAmount(BigInt(actualCents)),
          })}
        </div>
      ))}
    </>
  );
}

/** The evidence has amounts as the API writes them: `10.50`, `10.5`, `10`. */
function writeReais(text: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (whole === '') return text;
  return formatAmount(BigInt(`${sign}${whole}${fraction.padEnd(2, '0')}`));
}

function writeDay(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? printDay(text) : text;
}

const shownSteps = 50;

function History({ facts: { found, nameOf, people } }: Props) {
  const visit = useVisit();
  const { t } = visit;
  const steps = found.history.slice(-shownSteps);
  const entries = steps.map(({ action, actor, reason, detail, at }): TimelineEntry => {
    const changed = amountsOf(visit, detail) ?? planOf(visit, people, detail);
    const coding = codingTextOf(detail);
    return {
      at,
      tone: toneOf(action),
      title: `${wordOf(t, 'breaks.history', action, 'breaks.history.other')} · ${nameOf(actor)}`,
      detail: (
        <>
          {reason !== null && <bdi>{reason}</bdi>}
          {changed !== null && <Hint isBlock>{changed}</Hint>}
          {coding !== '' && <Hint isBlock>{coding}</Hint>}
        </>
      ),
    };
  });
  return (
    <Card title={t('word.history')}>
      {found.history.length > shownSteps && (
        <Empty>{t('breaks.history.older', { count: shownSteps })}</Empty>
      )}
      <Timeline entries={entries} />
    </Card>
  );
}

function toneOf(action: string): TimelineEntry['tone'] {
  if (['resolved', 'accept', 'link'].includes(action)) return 'good';
  if (action === 'refund_refused') return 'bad';
  return ['opened', 'reopened', 'reopen', 'unlink', 'revised'].includes(action) ? 'warn' : 'plain';
}

/** The reason code of an entry, and what it says of the money. */
function codingTextOf(detail: unknown): string {
  const { reasonCode, coding } = (detail ?? {}) as { reasonCode?: string; coding?: Coding };
  return [reasonCode, ...codingNames.map((name) => coding?.[name])].filter(Boolean).join(' · ');
}

/** Who works on it since, or until when it was put off. */
function planOf(visit: Visit, people: readonly Assignee[], detail: unknown): string | null {
  const { assignee, until } = (detail ?? {}) as Record<string, string | null | undefined>;
  if (assignee !== undefined) return assigneeIn(visit, people, assignee);
  return until ? printDay(until) : null;
}

/** What an entry says of amounts: from one to another, or the one of a refund. */
function amountsOf({ t }: Visit, detail: unknown): string | null {
  const { fromCents, toCents, amountCents } = (detail ?? {}) as Record<string, unknown>;
  const write = (cents: unknown) =>
    typeof cents === 'string' && /^-?\d+$/.test(cents) ? formatAmount(BigInt(cents)) : null;
  const [from, to, amount] = [write(fromCents), write(toCents), write(amountCents)];
  return from !== null && to !== null ? t('breaks.history.fromTo', { from, to }) : amount;
}
