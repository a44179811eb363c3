// What a break is compared with: its ranked candidates, or the payment that its line is matched to.
import { saoPauloDay } from '../../brazil/statement-day.js';
import { Badge, Card, Empty, Button, Hint } from '../kit/elements.js';
import { formatAmount } from '../formats.js';
import { CandidateChoice, CandidateItems } from '../kit/break-parts.js';
import { Fields, Form } from '../kit/form.js';
import { useVisit, type Visit } from '../visit.js';
import { LinkFields } from './action-forms-view.js';
import type { BreakFacts, BreakViewProps, Candidate } from './break-facts.js';
import { partyOf } from './break-words.js';
import { compareSides, type Comparison } from './compare-sides.js';
import { linkedBy } from './open-actions.js';
import { Key } from './shortcuts.js';
import { ComparisonTable } from './comparison.js';
import { wordOf } from '../texts.js';

export function Candidates(props: BreakViewProps & { canLink: boolean }) {
  const visit = useVisit();
  const { facts, address, canLink } = props;
  const { found, picked } = facts;
  // What a person has searched for stands before what was proposed.
  const candidates = [...(picked?.candidates ?? []), ...found.candidates];
  const list = (from: number, to?: number) => (
    <CandidateList {...{ facts, canLink, from }} candidates={candidates.slice(from, to)} />
  );
  return (
    <>
      {found.candidates.length === 0 && <OwnSides facts={facts} />}
      {(canLink || candidates.length > 0) && (
        <Card title={visit.t('breaks.candidates')} id={candidatesId}>
          {canLink && <Picker {...props} />}
          {candidates.length === 0 && <Empty>{visit.t('breaks.noCandidates')}</Empty>}
          {!canLink && list(0)}
          {canLink && candidates.length > 0 && (
            <Form
              action={`${visit.to(`breaks/${found.id}/link`)}?${address.toString()}`}
              shown={found.version}
            >
              {list(0, 1)}
              <LinkFields {...{ facts, isProposed: isProposed(candidates[0]) }} />
              {list(1)}
            </Form>
          )}
        </Card>
      )}
    </>
  );
}

const candidatesId = 'candidates';

/** Chosen before a person chooses: what is likelier than not. */
const isProposed = (candidate: Candidate | undefined): boolean =>
  candidate !== undefined && candidate.score >= 50;

/** Finds what else may be linked. Names stand in no address: the form is sent as any other. */
function Picker({ facts: { found, picked }, address }: BreakViewProps) {
  const { t, to } = useVisit();
  const label = linkedBy(found) === 'nsu' ? 'breaks.pickLine' : 'breaks.pickPayment';
  return (
    <details open={picked !== null} data-key="f" data-focus="pick">
      <summary>
        {t(label)} <Key of="f" />
      </summary>
      <Form action={`${to(`breaks/${found.id}/find`)}?${address.toString()}`}>
        <Fields fields={{ find: { label, hint: 'breaks.pickHint', required: true, id: 'pick' } }} />
        <Button is="plain">{t('breaks.pick')}</Button>
      </Form>
      {picked?.candidates.length === 0 && (
        <Empty>{t('breaks.pickedNone', { text: picked.text })}</Empty>
      )}
    </details>
  );
}

function CandidateList({
  facts,
  canLink,
  candidates,
  from,
}: Pick<BreakViewProps, 'facts'> & {
  canLink: boolean;
  candidates: readonly Candidate[];
  from: number;
}) {
  const { t } = useVisit();
  return (
    <CandidateItems hasKeys={canLink}>
      {candidates.map((candidate, index) => (
        <li>
          <CandidateHead {...{ candidate, canLink }} number={from + index + 1} />
          <details open={from + index === 0}>
            <summary>{t('breaks.compared')}</summary>
            <ComparedCandidate {...{ facts, candidate }} number={from + index + 1} />
          </details>
        </li>
      ))}
    </CandidateItems>
  );
}

function CandidateHead({
  candidate,
  number,
  canLink,
}: {
  candidate: Candidate;
  number: number;
  canLink: boolean;
}) {
  const visit = useVisit();
  const { t } = visit;
  const { amount, counterparty, score, reasons } = candidate;
  const chosen = candidate.expectedPaymentId ?? String(candidate.nsu);
  const proposed = number === 1 && isProposed(candidate) ? chosen : null;
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
            checked={(visit.form.get('candidate') ?? proposed) === chosen}
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
        {reasons.length > 0 && <Badge tone="plain" text={t('breaks.score', { score })} />}{' '}
        <Hint>{reasons.map((reason) => t(`breaks.reason.${reason}`)).join(' · ')}</Hint>{' '}
        <a href={addressOf(visit, candidate)}>
          {t(candidate.nsu === null ? 'word.expectedPayment' : 'breaks.line')}
        </a>
      </p>
    </>
  );
}

function addressOf(visit: Visit, { nsu, expectedPaymentId }: Candidate): string {
  return visit.to(nsu === null ? `expected-payments/${expectedPaymentId}` : `statement/${nsu}`);
}

function ComparedCandidate({
  facts,
  candidate,
  number,
}: {
  facts: BreakFacts;
  candidate: Candidate;
  number: number;
}) {
  const { t } = useVisit();
  const compared = compareCandidate(facts, candidate);
  if (compared === null) return <Empty>{t('breaks.mark.unknown')}</Empty>;
  return (
    <ComparisonTable
      name={t('breaks.candidate', { number })}
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
function OwnSides({ facts }: Pick<BreakViewProps, 'facts'>) {
  const { t } = useVisit();
  const { found, lines, payments } = facts;
  const line = found.nsu === null ? undefined : lines.get(found.nsu);
  const payment = payments.get(found.expectedPaymentId ?? '');
  if (!line || !payment) return null;
  const day = payment.dueDate ?? saoPauloDay(payment.createdAt);
  return (
    <Card title={t('breaks.compared')}>
      <ComparisonTable
        name={t('breaks.compared')}
        compared={compareSides(line, payment, { owed: payment.amountCents, day })}
        isPaymentFirst={false}
      />
    </Card>
  );
}
