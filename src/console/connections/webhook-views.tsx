// How the inbox of webhooks and one webhook look.
import type { JSX } from 'preact';
import type { WebhookEventState } from '../../generated/service/enums.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import type {
  ReportedLine,
  WebhookRow,
} from '../../webhooks/received/received-webhooks.queries.js';
import {
  maxAtOnce,
  webhookStates,
  type WebhookQuery,
} from '../../webhooks/received/received-webhooks.schema.js';
import type {
  DecidedWebhooks,
  ReceivedWebhooks,
} from '../../webhooks/received/received-webhooks.service.js';
import {
  Amount,
  Badge,
  Card,
  Empty,
  FactList,
  Filters,
  Pager,
  Timeline,
  type Tone,
} from '../kit/elements.js';
import { formatCount, formatTime } from '../formats.js';
import { DataTable, Form, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import {
  DeliveryBadge,
  describeFailure,
  ConnectionDone,
  hostOf,
  JsonText,
  plainText,
  prettyJson,
  Reason,
} from './connection-elements.js';
import { webhookIdOf } from './webhook-address.js';

const tones: Record<WebhookEventState, Tone> = {
  pending: 'warn',
  processed: 'good',
  quarantined: 'bad',
  unhandled: 'warn',
  discarded: 'plain',
};

function StateBadge({ visit: { t }, state }: { visit: Visit; state: WebhookEventState }) {
  return <Badge tone={tones[state]} text={t(`webhooks.state.${state}`)} />;
}

export function InboxList({
  visit,
  rows,
  next,
  wrong,
  isDeciding,
}: {
  visit: Visit;
  rows: readonly WebhookRow[];
  next: string | null;
  wrong: readonly string[];
  isDeciding: boolean;
}): JSX.Element {
  const { t, query, path } = visit;
  const states = webhookStates.map((state) => [state, t(`webhooks.state.${state}`)] as const);
  const decide = new URLSearchParams(query);
  decide.set('decide', '1');
  decide.delete('cursor');
  const mayDecide = isAllowedTo(visit, 'send again') && !isDeciding;
  return (
    <>
      <ConnectionDone visit={visit} />
      <p class="muted">{t('webhooks.intro')}</p>
      <Filters
        visit={visit}
        wrong={wrong}
        fields={[
          { name: 'state', label: 'webhooks.state', options: states },
          { name: 'eventType', label: 'webhooks.type', type: 'text' },
          { name: 'from', label: 'connections.from', type: 'date' },
          { name: 'to', label: 'connections.to', type: 'date' },
        ]}
      />
      {mayDecide && query.get('state') === 'quarantined' && rows.length > 0 && (
        <p>
          <a class="button" href={`${path}?${decide.toString()}`}>
            {t('webhooks.decide')}
          </a>
        </p>
      )}
      <div class="card">
        {rows.length === 0 ? (
          <Empty>{t(next === null ? 'webhooks.empty' : 'connections.examined')}</Empty>
        ) : (
          <Rows visit={visit} rows={rows} />
        )}
        <Pager visit={visit} next={next} />
      </div>
    </>
  );
}

function Rows({ visit, rows }: { visit: Visit; rows: readonly WebhookRow[] }) {
  const { t, language } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('webhooks.title')}
      columns={[
        'webhooks.receivedAt',
        'webhooks.state',
        'webhooks.type',
        'webhooks.reference',
        'webhooks.copies',
      ]}
      numbers={['webhooks.copies']}
    >
      {rows.map((row) => (
        <tr>
          <td>
            <a href={pathTo(visit, `webhooks/${webhookIdOf(row)}`)}>
              {formatTime(row.receivedAt, language)}
            </a>
          </td>
          <td>
            <StateBadge visit={visit} state={row.state} />
          </td>
          <td class="wide">
            <code>{row.eventType}</code>
          </td>
          <td class="wide">
            <ReferenceText visit={visit} row={row} />
          </td>
          <td class="number">{formatCount(row.copies)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function ReferenceText({
  visit: { t },
  row: { referenceKind, reference },
}: {
  visit: Visit;
  row: Pick<WebhookRow, 'referenceKind' | 'reference'>;
}) {
  const key = findTextKey(`webhooks.reference.${referenceKind}`);
  if (!key || reference === null) return <>{t('app.none')}</>;
  return (
    <>
      {t(key)} <code>{plainText(reference)}</code>
    </>
  );
}

/** What a person is about to decide about all quarantined webhooks of the filters. */
export function QuarantineDecision({
  visit,
  filters,
  decided: { count, isComplete },
}: {
  visit: Visit;
  filters: WebhookQuery;
  decided: DecidedWebhooks;
}): JSX.Element {
  const { t, path } = visit;
  const shown = formatCount(count);
  const action = (name: 'process' | 'discard') => (
    <Form visit={visit} action={pathTo(visit, `webhooks/${name}`)} shown={`${count} quarantined`}>
      {Object.entries(filters).map(([field, value]) => (
        <input type="hidden" name={field} value={value} />
      ))}
      <p class="hint">{t(`webhooks.${name}.hint`)}</p>
      <div class="row">
        <Reason visit={visit} />
        <button>{t(`webhooks.${name}.all`, { count: shown })}</button>
      </div>
    </Form>
  );
  return (
    <Card title={t('webhooks.decide')}>
      <p>{t('webhooks.decide.count', { count: shown })}</p>
      {!isComplete && (
        <Message kind="warn">
          {t('webhooks.decide.more', { count: formatCount(maxAtOnce) })}
        </Message>
      )}
      {count > 0 && (
        <>
          {action('process')}
          {action('discard')}
        </>
      )}
      <p>
        <a href={`${path}?state=quarantined`}>{t('app.cancel')}</a>
      </p>
    </Card>
  );
}

type Found = Awaited<ReturnType<ReceivedWebhooks['get']>>;

export function WebhookDetail({
  visit,
  id,
  found,
}: {
  visit: Visit;
  id: string;
  found: Found;
}): JSX.Element {
  const { t, language } = visit;
  const { webhook, bytes, quarantineReason, lines } = found;
  const { state, receivedAt, copies } = webhook;
  return (
    <>
      <ConnectionDone visit={visit} />
      {quarantineReason && (
        <Message kind="bad">{t(`webhooks.quarantine.${quarantineReason}`)}</Message>
      )}
      <div class="cards">
        <FactList
          visit={visit}
          title="webhooks.facts"
          facts={[
            ['webhooks.state', <StateBadge visit={visit} state={state} />],
            ['webhooks.receivedAt', formatTime(receivedAt, language)],
            ['webhooks.processedAt', formatTime(webhook.processedAt, language)],
            ['webhooks.reference', <ReferenceText visit={visit} row={webhook} />],
            ['webhooks.copies', formatCount(copies)],
            ['webhooks.bytes', bytes === null ? t('app.none') : formatCount(bytes)],
          ]}
        />
        <Card title={t('webhooks.story')}>
          <Story visit={visit} found={found} />
        </Card>
      </div>
      {webhook.reference !== null && <Lines visit={visit} lines={lines} />}
      <Body visit={visit} found={found} />
      {isAllowedTo(visit, 'send again') && <Actions visit={visit} id={id} state={state} />}
    </>
  );
}

function Story({ visit, found }: { visit: Visit; found: Found }) {
  const { t } = visit;
  const { webhook, relay, lines } = found;
  const { state, processedAt, receivedAt } = webhook;
  const [line] = lines;
  const ended = processedAt ? [{ at: processedAt, tone: tones[state] }] : [];
  return (
    <Timeline
      visit={visit}
      entries={[
        { at: receivedAt, tone: 'plain' as const, title: t('webhooks.story.received') },
        ...(line
          ? [{ at: line.recordedAt, tone: 'good' as const, title: t('webhooks.story.line') }]
          : []),
        ...ended.map((one) => ({ ...one, title: t(`webhooks.state.${state}`) })),
        ...(processedAt === null
          ? [{ at: null, tone: tones[state], title: t(`webhooks.now.${state}`) }]
          : []),
        ...(relay
          ? [
              {
                at: null,
                tone: relay.state === 'dead' ? ('bad' as const) : ('plain' as const),
                title: t('webhooks.story.relayed', { host: hostOf(relay.url) }),
                detail: (
                  <>
                    <DeliveryBadge visit={visit} state={relay.state} />{' '}
                    {relay.lastError && describeFailure(t, relay.lastError)}
                  </>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

function Lines({ visit, lines }: { visit: Visit; lines: readonly ReportedLine[] }) {
  const { t, language } = visit;
  return (
    <Card title={t('webhooks.lines')}>
      <DataTable
        empty={t('webhooks.noLines')}
        visit={visit}
        name={t('webhooks.lines')}
        columns={['webhooks.nsu', 'webhooks.amount', 'webhooks.occurredAt', 'webhooks.syncedAt']}
        numbers={['webhooks.amount']}
      >
        {lines.map(({ nsu, isCredit, amountCents, occurredAt, recordedAt }) => (
          <tr>
            <td>
              <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
            </td>
            <td class="number">
              <Amount cents={isCredit ? amountCents : -amountCents} />
            </td>
            <td>{formatTime(occurredAt, language)}</td>
            <td>{formatTime(recordedAt, language)}</td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function Body({ visit, found: { fields, text, bytes } }: { visit: Visit; found: Found }) {
  const { t } = visit;
  const isMasked = !isAllowedTo(visit, 'see personal data');
  const shown = fields ? prettyJson(stringifyJson(fields)) : text !== null && plainText(text);
  return (
    <Card title={t('webhooks.body')}>
      {isMasked && bytes !== null && <p class="hint">{t('webhooks.body.masked')}</p>}
      {shown ? (
        <JsonText label={t('webhooks.body')} text={shown} />
      ) : (
        <Empty>{t(bytes === null ? 'webhooks.body.deleted' : 'webhooks.body.unreadable')}</Empty>
      )}
    </Card>
  );
}

function Actions({ visit, id, state }: { visit: Visit; id: string; state: WebhookEventState }) {
  const { t } = visit;
  const action = (name: 'process' | 'discard') => (
    <Form visit={visit} action={pathTo(visit, `webhooks/${id}/${name}`)} shown={state}>
      <p class="hint">{t(`webhooks.${name}.hint`)}</p>
      <div class="row">
        <Reason visit={visit} />
        <button>{t(`webhooks.${name}`)}</button>
      </div>
    </Form>
  );
  return (
    <Card title={t('connections.actions')}>
      {action('process')}
      {state === 'quarantined' && action('discard')}
    </Card>
  );
}
