// What a break is compared with: its ranked candidates, or the payment that its line is matched to.
import type { JSX } from 'preact';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { Badge, Card, Empty } from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { CandidateChoice, CandidateItems } from '../kit/break-parts.js';
import { Form } from '../kit/frame.js';
import { Hint } from '../kit/layout.js';
import type { Visit } from '../requests.js';
import { pathTo } from '../visit.js';
import { LinkFields } from './action-forms-view.js';
import type { BreakFacts, BreakViewProps } from './break-facts.js';
import { amountOf, partyOf } from './break-words.js';
import { compareSides, type Comparison } from './compare-sides.js';
import { Key } from './shortcuts.js';
import { ComparisonTable } from './comparison.js';
import { wordOf } from '../texts.js';

type Candidate = BreakFacts['found']['candidates'][number];

export function Candidates(props: BreakViewProps & { canLink: boolean }): JSX.Element | null {
  const { visit, facts, address, canLink } = props;
  const { t } = visit;
  const { candidates, id, version } = facts.found;
  if (candidates.length === 0) return <OwnSides {...props} />;
  const list = <CandidateList visit={visit} facts={facts} canLink={canLink} />;
  return (
    <Card title={t('breaks.candidates')}>
      {canLink ? (
        <Form
          visit={visit}
          action={`${pathTo(visit, `breaks/${id}/link`)}?${address.toString()}`}
          shown={version}
        >
          {list}
          <LinkFields visit={visit} facts={facts} />
        </Form>
      ) : (
        list
      )}
    </Card>
  );
}

function CandidateList({
  visit,
  facts,
  canLink,
}: Pick<BreakViewProps, 'visit' | 'facts'> & { canLink: boolean }) {
  return (
    <CandidateItems hasKeys={canLink}>
      {facts.found.candidates.map((candidate, index) => (
        <li>
          <CandidateHead {...{ visit, candidate, canLink }} number={index + 1} />
          <details open={index === 0}>
            <summary>{visit.t('breaks.compared')}</summary>
            <ComparedCandidate {...{ visit, facts, candidate }} number={index + 1} />
          </details>
        </li>
      ))}
    </CandidateItems>
  );
}

function CandidateHead({
  visit,
  candidate,
  number,
  canLink,
}: {
  visit: Visit;
  candidate: Candidate;
  number: number;
  canLink: boolean;
}) {
  const { t } = visit;
  const { amount, counterparty, score, reasons } = candidate;
  const chosen = candidate.expectedPaymentId ?? String(candidate.nsu);
  const title = (
    <>
      <Key of={String(number)} /> {amount === null ? t('breaks.anyAmount') : formatAmount(amount)} ·{' '}
      <bdi>{partyOf(visit, counterparty)}</bdi> ·{' '}
      {candidate.nsu === null
        ? wordOf(t, 'breaks.source', candidate.kind, 'breaks.source.other')
        : t('breaks.lineOf', { nsu: candidate.nsu.toString() })}
    </>
  );
  return (
    <>
      {canLink ? (
        <CandidateChoice>
          <input
            type="radio"
            name="candidate"
            value={chosen}
            checked={visit.form.get('candidate') === chosen}
            data-handle
            data-key={number < 10 ? String(number) : undefined}
            data-focus="link-reason"
          />
          {title}
        </CandidateChoice>
      ) : (
        <p>
          <strong>{title}</strong>
        </p>
      )}
      <p>
        <Badge tone="plain" text={t('breaks.score', { score })} />{' '}
        <Hint>{reasons.map((reason) => t(`breaks.reason.${reason}`)).join(' · ')}</Hint>{' '}
        <a href={addressOf(visit, candidate)}>
          {t(candidate.nsu === null ? 'breaks.payment' : 'breaks.line')}
        </a>
      </p>
    </>
  );
}

function addressOf(visit: Visit, { nsu, expectedPaymentId }: Candidate): string {
  return pathTo(
    visit,
    nsu === null ? `expected-payments/${expectedPaymentId}` : `statement/${nsu}`,
  );
}

function ComparedCandidate({
  visit,
  facts,
  candidate,
  number,
}: {
  visit: Visit;
  facts: BreakFacts;
  candidate: Candidate;
  number: number;
}) {
  const compared = compareCandidate(facts, candidate);
  if (compared === null) return <Empty>{visit.t('breaks.mark.unknown')}</Empty>;
  return (
    <ComparisonTable
      visit={visit}
      name={visit.t('breaks.candidate', { number })}
      compared={compared}
      isPaymentFirst={candidate.nsu !== null}
    />
  );
}

/** Null where a side is no longer stored. */
function compareCandidate(
  { found, lines, payments }: BreakFacts,
  { nsu, expectedPaymentId, amount, day }: Candidate,
): Comparison[] | null {
  const line = lines.get(nsu ?? found.nsu ?? 0n);
  const payment = payments.get(expectedPaymentId ?? found.expectedPaymentId ?? '');
  if (!line || !payment) return null;
  if (nsu === null) return compareSides(line, payment, { owed: amount, day });
  const { amountCents, paidCents, dueDate, createdAt } = payment;
  const owed = amountCents === null ? null : amountCents - paidCents;
  return compareSides(line, payment, { owed, day: dueDate ?? saoPauloDay(createdAt) });
}

/** Without candidates: the line of the break beside the payment that it is about. */
function OwnSides({ visit, facts, canLink, address }: BreakViewProps & { canLink: boolean }) {
  const { t } = visit;
  const { found, lines, payments } = facts;
  const line = found.nsu === null ? undefined : lines.get(found.nsu);
  const payment = payments.get(found.expectedPaymentId ?? '');
  const day = payment ? (payment.dueDate ?? saoPauloDay(payment.createdAt)) : '';
  return (
    <Card title={t('breaks.compared')}>
      {line && payment ? (
        <ComparisonTable
          visit={visit}
          name={t('breaks.compared')}
          compared={compareSides(line, payment, { owed: payment.amountCents, day })}
          isPaymentFirst={false}
        />
      ) : (
        <p>
          {line && `${t('breaks.line')}: ${formatAmount(line.amountCents)} · `}
          {payment && `${t('breaks.payment')}: ${amountOf(t, payment.amountCents)} · `}
          <bdi>{partyOf(visit, found.counterparty)}</bdi>
        </p>
      )}
      {canLink && (
        <>
          <Empty>{t('breaks.noCandidates')}</Empty>
          <Form
            visit={visit}
            action={`${pathTo(visit, `breaks/${found.id}/link`)}?${address.toString()}`}
            shown={found.version}
          >
            <LinkFields visit={visit} facts={facts} />
          </Form>
        </>
      )}
    </Card>
  );
}
