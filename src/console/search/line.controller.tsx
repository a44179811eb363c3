// One statement line with everything that is known of it.
import { Controller } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import { punctuateTaxId } from '../../access/counterparties/party.js';
import { operationKindOf } from '../../bank-contract/operation-kinds.js';
import { AppError } from '../../platform/errors.js';
import { isNsu } from '../../platform/http/listing.js';
import { ActorNames, type NameOfActor } from '../actor-names.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import {
  Amount,
  Badge,
  Card,
  Empty,
  FactList,
  Timeline,
  type TimelineEntry,
} from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Message } from '../kit/frame.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { callerOf, isAllowedTo, pathTo } from '../visit.js';
import { indentContent } from './indented-content.js';
import { LineReading, type LineDetail } from './line-reading.service.js';
import { StateBadge } from './list-elements.js';
import { nameOfType, SignedAmount, Why } from './statement-elements.js';

interface Props {
  visit: Visit;
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

  @ConsolePage({ path: '/console/accounts/:account/statement/:id', needs: 'view' })
  async line(@Visiting() visit: Visit): Promise<PageAnswer> {
    const nsu = visit.params.id ?? '';
    if (!isNsu(nsu)) throw new AppError('not_found');
    const detail = await this.details.get(callerOf(visit), BigInt(nsu));
    const actors = [
      ...detail.matches.map(({ madeBy }) => madeBy),
      ...detail.decisions.map(({ actor }) => actor),
    ];
    const nameOfActor = await this.names.find(visit, actors);
    const { t } = visit;
    const body = (
      <>
        <Neighbours visit={visit} detail={detail} />
        <Explanation visit={visit} detail={detail} />
        <div class="cards">
          <LineFacts visit={visit} detail={detail} />
          <Ids visit={visit} detail={detail} />
          <Who visit={visit} detail={detail} />
        </div>
        <Matches {...{ visit, detail, nameOfActor }} />
        <Breaks visit={visit} detail={detail} />
        <Refunds visit={visit} detail={detail} />
        <History {...{ visit, detail, nameOfActor }} />
        <Content visit={visit} detail={detail} />
      </>
    );
    return new Shown(t('line.titleOf', { nsu }), body);
  }
}

function Neighbours({ visit, detail: { neighbours } }: Props) {
  const { t } = visit;
  const { previous, next } = neighbours;
  return (
    <nav class="row" aria-label={t('line.title')}>
      <a href={pathTo(visit, 'statement')}>{t('line.title')}</a>
      {previous !== null && (
        <a href={pathTo(visit, `statement/${previous}`)}>{t('line.openPrevious')}</a>
      )}
      {next !== null && <a href={pathTo(visit, `statement/${next}`)}>{t('line.openNext')}</a>}
    </nav>
  );
}

function Explanation({ visit, detail: { line, explained } }: Props) {
  const { t } = visit;
  return (
    <section class="card">
      <h2>
        {t('line.why')} <StateBadge state={line.state} text={t(`line.state.${line.state}`)} />
      </h2>
      <Why visit={visit} explained={explained} />
      {line.breakKind !== null && line.breakId !== null && (
        <p>
          <a href={pathTo(visit, `breaks/${line.breakId}`)}>{t('line.openBreak')}</a>
        </p>
      )}
    </section>
  );
}

function LineFacts({ visit, detail: { line, recordedAt } }: Props) {
  const { language } = visit;
  return (
    <FactList
      visit={visit}
      title="line.facts"
      facts={[
        ['line.amount', <SignedAmount visit={visit} line={line} />],
        ['line.previousBalance', <Amount cents={line.balancePreviousCents} />],
        ['line.balance', <Amount cents={line.currentBalanceCents} />],
        ['line.what', <Text text={nameOfType(visit, line.typeName)} />],
        ['line.typeName', <code>{line.typeName}</code>],
        ['line.notes', <Text text={line.notes ?? hiddenText(visit)} />],
        ['line.occurredAt', formatTime(line.occurredAt, language)],
        ['line.recordedAt', formatTime(recordedAt, language)],
        ['list.nsu', line.nsu.toString()],
      ]}
    />
  );
}

/** What a stranger wrote, in whatever direction. */
function Text({ text }: { text: string }) {
  return <bdi class="anywhere">{text}</bdi>;
}

function hiddenText(visit: Visit): string {
  const isVisible = isAllowedTo(visit, 'see personal data');
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

function Ids({ visit, detail: { ids, bankId } }: Props) {
  return (
    <FactList
      visit={visit}
      title="line.ids"
      facts={[
        ...ids.map(({ field, value }) => [idLabels[field], <code>{value}</code>] as const),
        ['line.bankId', <code>{bankId || visit.t('app.none')}</code>],
      ]}
    />
  );
}

function Who({ visit, detail: { line, erasure } }: Props) {
  const { t } = visit;
  const { name, taxId, ispb, branch, account, message } = line.counterparty;
  const text = (value: string | null): ComponentChildren =>
    value === null ? t('app.none') : <Text text={value} />;
  if (erasure)
    return (
      <Card title={t('line.who')}>
        <p>{t('line.erased', { reason: erasure.reason })}</p>
      </Card>
    );
  return (
    <FactList
      visit={visit}
      title="line.who"
      facts={[
        ['line.name', text(name)],
        ['line.taxId', text(taxId === null ? null : (punctuateTaxId(taxId) ?? taxId))],
        ['line.institution', text(ispb)],
        ['line.branch', text(branch)],
        ['line.account', text(account)],
        ['line.message', message === null ? hiddenText(visit) : text(message)],
      ]}
    />
  );
}

function Matches({ visit, detail: { matches, explained }, nameOfActor }: NamedProps) {
  const { t, language } = visit;
  const ruleNames = new Map(
    explained.matches.map(({ ruleId, ruleName }) => [ruleId, ruleName] as const),
  );
  return (
    <Card title={t('line.matches')}>
      {matches.length === 0 ? (
        <Empty>{t('line.noMatches')}</Empty>
      ) : (
        <div class="stacked">
          <DataTable
            visit={visit}
            name={t('line.matches')}
            columns={[
              'line.match.record',
              'line.match.role',
              'line.match.amount',
              'line.match.rule',
              'line.match.by',
              'line.match.since',
              'line.match.until',
            ]}
            numbers={['line.match.amount']}
          >
            {matches.map((match) => (
              <tr>
                <td class="wide">
                  <RecordLink {...{ visit, explained }} id={match.expectedPaymentId} />
                </td>
                <td data-label={t('line.match.role')}>{t(`line.match.${match.role}`)}</td>
                <td class="number">
                  <Amount cents={match.amountCents} />
                </td>
                <td class="wide" data-label={t('line.match.rule')}>
                  {nameOf(visit, 'line.rule', match.rule)}
                  {match.ruleId !== null && (
                    <a class="block" href={pathTo(visit, `rules/${match.ruleId}`)}>
                      {ruleNames.get(match.ruleId) ?? match.ruleId}{' '}
                      {match.ruleVersion !== null && `v${match.ruleVersion}`}
                    </a>
                  )}
                  <code class="hint block">{JSON.stringify(match.evidence)}</code>
                </td>
                <td class="wide" data-label={t('line.match.by')}>
                  {nameOfActor(match.madeBy)}
                  {match.reason !== null && <span class="hint block">{match.reason}</span>}
                </td>
                <td data-label={t('line.match.since')}>{formatTime(match.createdAt, language)}</td>
                <td class="wide" data-label={t('line.match.until')}>
                  {formatTime(match.unlinkedAt, language)}
                  {match.unlinkReason !== null && (
                    <span class="hint block">{match.unlinkReason}</span>
                  )}
                </td>
              </tr>
            ))}
          </DataTable>
        </div>
      )}
    </Card>
  );
}

/** Leads to the expected payment, which leads to its record. */
function RecordLink({
  visit,
  explained,
  id,
}: Pick<Props, 'visit'> & Pick<LineDetail, 'explained'> & { id: string }) {
  const match = explained.matches.find(({ expectedPaymentId }) => expectedPaymentId === id);
  const path = match ? pathOfRecord(match) : `expected-payments/${id}`;
  const label = match?.label ?? id;
  return (
    <a href={pathTo(visit, path)}>
      {match && `${nameOf(visit, 'line.record', match.kind)} `}
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

/** A value of a later version is shown as it is stored. */
function nameOf({ t }: Visit, prefix: 'line.rule' | 'line.record' | 'break', value: string) {
  const key = findTextKey(`${prefix}.${value}`);
  return key ? t(key) : value;
}

function Breaks({ visit, detail: { breaks } }: Props) {
  const { t, language } = visit;
  if (breaks.length === 0) return null;
  return (
    <Card title={t('line.breaks')}>
      <DataTable
        visit={visit}
        name={t('line.breaks')}
        columns={['line.break.kind', 'list.state', 'list.amount', 'line.break.openedAt']}
        numbers={['list.amount']}
      >
        {breaks.map(({ id, kind, state, amountCents, openedAt }) => (
          <tr>
            <td>
              <a href={pathTo(visit, `breaks/${id}`)}>{nameOf(visit, 'break', kind)}</a>
            </td>
            <td>
              <Badge tone={state === 'open' ? 'bad' : 'good'} text={t(`line.break.${state}`)} />
            </td>
            <td class="number">
              {amountCents === null ? t('app.none') : <Amount cents={amountCents} />}
            </td>
            <td>{formatTime(openedAt, language)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Refunds({ visit, detail: { refunds } }: Props) {
  const { t, language } = visit;
  if (refunds.length === 0) return null;
  return (
    <Card title={t('line.refunds')}>
      <DataTable
        visit={visit}
        name={t('line.refunds')}
        columns={['list.id', 'list.state', 'list.amount', 'list.createdAt']}
        numbers={['list.amount']}
      >
        {refunds.map(({ id, state, amountCents, createdAt }) => (
          <tr>
            <td class="wide">
              <a href={pathTo(visit, `refunds/${id}`)}>{id}</a>
            </td>
            <td>
              <StateBadge state={state} text={t(`list.refundState.${state}`)} />
            </td>
            <td class="number">
              <Amount cents={amountCents} />
            </td>
            <td>{formatTime(createdAt, language)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

/** What the line was decided to be before, and what people decided about it. */
function History({ visit, detail: { outcome, former, decisions }, nameOfActor }: NamedProps) {
  const { t } = visit;
  const stateOf = ({ state, label }: { state: keyof typeof stateTexts; label: string | null }) => {
    const labelKey = label === null ? null : findTextKey(`break.${label}`);
    const category = label === null ? null : findTextKey(`line.why.${label}`);
    const detail = labelKey ?? category;
    return [t(stateTexts[state]), detail ? t(detail) : label].filter(Boolean).join(' · ');
  };
  const ofPeople = decisions.map(({ action, reason, actor, createdAt }): TimelineEntry => ({
    at: createdAt,
    tone: 'plain',
    title: t(`line.decided.${action}`, { reason }),
    detail: nameOfActor(actor),
  }));
  const versions: TimelineEntry[] = [
    ...(outcome
      ? [
          {
            at: null,
            tone: 'plain' as const,
            title: t('line.decided.now', { state: stateOf(outcome) }),
          },
        ]
      : []),
    ...former.map((one) => ({
      at: null,
      tone: 'plain' as const,
      title: t('line.decided.before', { version: one.version, state: stateOf(one) }),
    })),
  ];
  if (versions.length + ofPeople.length === 0) return null;
  return (
    <Card title={t('line.history')}>
      <Timeline visit={visit} entries={[...versions, ...ofPeople]} />
    </Card>
  );
}

const stateTexts = {
  matched: 'line.state.matched',
  classified: 'line.state.classified',
  in_break: 'line.state.in_break',
  pending: 'line.state.pending',
} as const satisfies Record<string, TextKey>;

function Content({ visit, detail: { content, erasure } }: Props) {
  const { t } = visit;
  if (content === null && erasure !== null) return null;
  return (
    <Card title={t('line.content')}>
      {content === null ? (
        <Message kind="warn">{t('line.hidden')}</Message>
      ) : (
        <pre tabindex={0}>{indentContent(content)}</pre>
      )}
    </Card>
  );
}
