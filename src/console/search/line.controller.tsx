// One statement line with everything that is known of it.
import { Controller } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import { operationKindOf } from '../../bank-contract/operation-kinds.js';
import type { LineOutcomeState } from '../../generated/service/enums.js';
import { AppError } from '../../platform/errors.js';
import { isNsu } from '../../platform/http/listing.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatAmount, writeTaxId } from '../formats.js';
import {
  Amount,
  Badge,
  Card,
  Code,
  FactList,
  Timeline,
  Movement,
  Message,
  Cards,
  Hint,
  Row,
  type TimelineEntry,
} from '../kit/elements.js';
import { TableCard } from '../kit/table.js';
import { Shown, type PageAnswer } from '../page.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import { findTextKey, type TextKey, wordOf } from '../texts.js';
import { indentContent } from './indented-content.js';
import { LineReading, type LineDetail } from './line-reading.service.js';
import { StateBadge } from './list-elements.js';
import { nameOfType, Why } from './statement-elements.js';

interface Props {
  detail: LineDetail;
}

interface NamedProps extends Props {
  nameOfActor: NameOfActor;
}

@Controller()
export class LinePage {
  constructor(
    private readonly details: LineReading,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('statement/:id', 'view')
  async line(@Visiting() visit: Visit): Promise<PageAnswer> {
    const nsu = visit.params.id ?? '';
    if (!isNsu(nsu)) throw new AppError('not_found');
    const detail = await this.details.get(callerOf(visit), BigInt(nsu));
    const actors = [
      ...detail.matches.map(({ madeBy }) => madeBy),
      ...detail.decisions.map(({ actor }) => actor),
    ];
    const nameOfActor = await this.names.find(visit, actors);
    const body = (
      <>
        <Neighbours detail={detail} />
        <Explanation detail={detail} />
        <Cards>
          <LineFacts detail={detail} />
          <Ids detail={detail} />
          <Who detail={detail} />
        </Cards>
        <Matches {...{ detail, nameOfActor }} />
        <Breaks detail={detail} />
        <Refunds detail={detail} />
        <History {...{ detail, nameOfActor }} />
        <Content detail={detail} />
      </>
    );
    const { isCredit, amountCents } = detail.line;
    const amount = formatAmount(isCredit ? amountCents : -amountCents);
    const title = `${nameOfType(visit, detail.line)} · ${amount} · NSU ${nsu}`;
    return new Shown(title, body);
  }
}

const amountOf = ({ amountCents }: { amountCents: bigint | null }) => amountCents;

function Neighbours({ detail: { neighbours } }: Props) {
  const { t, to } = useVisit();
  const { previous, next } = neighbours;
  return (
    <nav aria-label={t('line.title')}>
      <Row>
        <a href={to('statement')}>{t('line.title')}</a>
        {previous !== null && <a href={to(`statement/${previous}`)}>{t('line.openPrevious')}</a>}
        {next !== null && <a href={to(`statement/${next}`)}>{t('line.openNext')}</a>}
      </Row>
    </nav>
  );
}

function Explanation({ detail: { line, explained } }: Props) {
  const { t, to } = useVisit();
  return (
    <Card
      title={
        <>
          {t('line.why')} <StateBadge state={line.state} text={t(`line.state.${line.state}`)} />
        </>
      }
    >
      <Why explained={explained} />
      {line.breakKind !== null && line.breakId !== null && (
        <p>
          <a href={to(`breaks/${line.breakId}`)}>{t('line.openBreak')}</a>
        </p>
      )}
    </Card>
  );
}

function LineFacts({ detail: { line, recordedAt } }: Props) {
  const visit = useVisit();
  const { time } = visit;
  return (
    <FactList
      title="word.line"
      facts={[
        ['word.amount', <Movement of={line} />],
        ['line.previousBalance', <Amount cents={line.balancePreviousCents} />],
        ['word.balanceAfter', <Amount cents={line.currentBalanceCents} />],
        ['word.line', <Text text={nameOfType(visit, line)} />],
        ['line.typeName', <code>{line.typeName}</code>],
        ['line.notes', <Text text={line.notes ?? hiddenText(visit)} />],
        ['word.when', time(line.occurredAt)],
        ['line.recordedAt', time(recordedAt)],
        ['line.reference.kind.nsu', line.nsu.toString()],
      ]}
    />
  );
}

/** What a stranger wrote, in whatever direction. */
function Text({ text }: { text: string }) {
  return <bdi>{text}</bdi>;
}

function hiddenText(visit: Visit): string {
  const isVisible = visit.may('see personal data');
  return visit.t(isVisible ? 'app.none' : 'line.hidden');
}

const idLabels: Record<LineDetail['ids'][number]['field'], TextKey> = {
  correlationId: 'line.reference.kind.correlation_id',
  endToEndId: 'line.reference.kind.end_to_end_id',
  externalId: 'line.reference.kind.external_id',
  originalEndToEndId: 'line.reference.kind.original_end_to_end_id',
  movementId: 'line.reference.kind.movement_id',
  idempotencyKey: 'line.reference.kind.idempotency_key',
  billCode: 'line.reference.kind.bill_code',
};

function Ids({ detail: { ids, bankId } }: Props) {
  const { t } = useVisit();
  return (
    <FactList
      title="line.ids"
      facts={[
        ...ids.map(({ field, value }) => [idLabels[field], <code>{value}</code>] as const),
        ['line.bankId', <code>{bankId || t('app.none')}</code>],
      ]}
    />
  );
}

function Who({ detail: { line, erasure } }: Props) {
  const visit = useVisit();
  const { t } = visit;
  const { name, taxId, ispb, branch, account, message } = line.counterparty;
  const text = (value: string | null): ComponentChildren =>
    value === null ? t('app.none') : <Text text={value} />;
  if (erasure)
    return (
      <Card title={t('word.counterparty')}>
        <p>{t('line.erased', { reason: erasure.reason })}</p>
      </Card>
    );
  return (
    <FactList
      title="word.counterparty"
      facts={[
        ['word.name', text(name)],
        ['word.taxId', text(writeTaxId(taxId))],
        ['word.institution', text(ispb)],
        ['word.branch', text(branch)],
        ['word.account', text(account)],
        ['line.message', message === null ? hiddenText(visit) : text(message)],
      ]}
    />
  );
}

function Matches({ detail: { matches, explained }, nameOfActor }: NamedProps) {
  const { t, time, to } = useVisit();
  const ruleNames = new Map(
    explained.matches.map(({ ruleId, ruleName }) => [ruleId, ruleName] as const),
  );
  return (
    <TableCard
      {...{ title: 'line.matches', rows: matches, empty: 'line.noMatches' }}
      columns={{
        'word.record': {
          wide: ({ expectedPaymentId }) => (
            <RecordLink explained={explained} id={expectedPaymentId} />
          ),
        },
        'word.role': ({ role }) => t(`line.match.${role}`),
        'word.aspect': { cents: amountOf },
        'word.rule': {
          wide: ({ rule, ruleId, ruleVersion, evidence }) => (
            <>
              {wordOf(t, 'line.rule', rule)}
              {ruleId !== null && (
                <div>
                  <a href={to(`rules/${ruleId}`)}>
                    {ruleNames.get(ruleId) ?? ruleId} {ruleVersion !== null && `v${ruleVersion}`}
                  </a>
                </div>
              )}
              <Hint isBlock>
                <code>{JSON.stringify(evidence)}</code>
              </Hint>
            </>
          ),
        },
        'line.match.by': { wide: ({ madeBy, reason }) => because(nameOfActor(madeBy), reason) },
        'word.since': { at: ({ createdAt }) => createdAt },
        'line.match.until': {
          wide: ({ unlinkedAt, unlinkReason }) => because(time(unlinkedAt), unlinkReason),
        },
      }}
    />
  );
}

function because(what: string, reason: string | null) {
  return (
    <>
      {what}
      {reason !== null && <Hint isBlock>{reason}</Hint>}
    </>
  );
}

/** Leads to the expected payment, which leads to its record. */
function RecordLink({ explained, id }: Pick<LineDetail, 'explained'> & { id: string }) {
  const { to, t } = useVisit();
  const match = explained.matches.find(({ expectedPaymentId }) => expectedPaymentId === id);
  const path = match ? pathOfRecord(match) : `expected-payments/${id}`;
  const label = match?.label ?? id;
  return (
    <a href={to(path)}>
      {match && `${wordOf(t, 'line.record', match.kind)} `}
      {label}
    </a>
  );
}

function pathOfRecord({
  kind,
  operationId,
  transferId,
  expectedPaymentId,
}: LineDetail['explained']['matches'][number]): string {
  if (transferId !== null) return `transfers/${transferId}`;
  switch (operationKindOf(kind)?.money ?? null) {
    case 'charge':
      return `charges/${operationId}`;
    case 'bill_payment':
      return `bills/${operationId}`;
    case 'refund':
      return `refunds/${operationId}`;
    case 'transfer':
    case null:
      return `expected-payments/${expectedPaymentId}`;
  }
}

function Breaks({ detail: { breaks } }: Props) {
  const { t, to } = useVisit();
  if (breaks.length === 0) return null;
  return (
    <TableCard
      {...{ title: 'line.breaks', rows: breaks }}
      columns={{
        'word.kind': ({ id, kind }) => <a href={to(`breaks/${id}`)}>{wordOf(t, 'break', kind)}</a>,
        'word.status': ({ state }) => (
          <Badge tone={state === 'open' ? 'bad' : 'good'} text={t(`breaks.state.${state}`)} />
        ),
        'word.amount': { cents: amountOf },
        'line.break.openedAt': { at: ({ openedAt }) => openedAt },
      }}
    />
  );
}

function Refunds({ detail: { refunds } }: Props) {
  const { t, to } = useVisit();
  if (refunds.length === 0) return null;
  return (
    <TableCard
      {...{ title: 'line.refunds', rows: refunds }}
      columns={{
        'list.id': { wide: ({ id }) => <a href={to(`refunds/${id}`)}>{id}</a> },
        'word.status': ({ state }) => (
          <StateBadge state={state} text={t(`list.sentState.${state}`)} />
        ),
        'word.amount': { cents: amountOf },
        'list.createdAt': { at: ({ createdAt }) => createdAt },
      }}
    />
  );
}

/** What the line was decided to be before, and what people decided about it. */
function History({ detail: { outcome, former, decisions }, nameOfActor }: NamedProps) {
  const { t } = useVisit();
  const stateOf = ({ state, label }: { state: LineOutcomeState; label: string | null }) => {
    const labelKey = label === null ? null : findTextKey(`break.${label}`);
    const category = label === null ? null : findTextKey(`line.why.${label}`);
    const detail = labelKey ?? category;
    return [t(`line.state.${state}`), detail ? t(detail) : label].filter(Boolean).join(' · ');
  };
  const ofPeople = decisions.map(({ action, reason, actor, createdAt }): TimelineEntry => ({
    at: createdAt,
    tone: 'plain',
    title: t(`line.decided.${action}`, { reason }),
    detail: nameOfActor(actor),
  }));
  const versions = [
    ...(outcome ? [t('line.decided.now', { state: stateOf(outcome) })] : []),
    ...former.map((one) => t('line.decided.before', { version: one.version, state: stateOf(one) })),
  ].map((title): TimelineEntry => ({ at: null, tone: 'plain', title }));
  if (versions.length + ofPeople.length === 0) return null;
  return (
    <Card title={t('word.decisions')}>
      <Timeline entries={[...versions, ...ofPeople]} />
    </Card>
  );
}

function Content({ detail: { content, erasure } }: Props) {
  const { t } = useVisit();
  if (content === null && erasure !== null) return null;
  return (
    <Card title={t('line.content')}>
      {content === null ? (
        <Message kind="warn">{t('line.hidden')}</Message>
      ) : (
        <Code text={indentContent(content)} />
      )}
    </Card>
  );
}
