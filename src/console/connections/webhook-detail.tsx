// How one webhook looks, with what it led to.
import type { JSX } from 'preact';
import type { WebhookEventState } from '../../generated/service/enums.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import type { WebhookRow } from '../../webhooks/received/received-webhooks.queries.js';
import type { ReceivedWebhooks } from '../../webhooks/received/received-webhooks.service.js';
import {
  Movement,
  Badge,
  Card,
  Code,
  Empty,
  FactList,
  Timeline,
  type Tone,
} from '../kit/elements.js';
import { Step } from '../kit/form.js';
import { formatCount, formatTime } from '../formats.js';
import { Message } from '../kit/frame.js';
import { Cards, Hint } from '../kit/layout.js';
import { ListTable } from '../kit/table.js';
import type { Visit } from '../requests.js';
import { findTextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import {
  ConnectionDone,
  DeliveryBadge,
  describeFailure,
  hostOf,
  plainText,
  prettyJson,
} from './connection-elements.js';

/** What a person may decide about a quarantined webhook. */
export const decisions = ['process', 'discard'] as const;

const tones: Record<WebhookEventState, Tone> = {
  pending: 'warn',
  processed: 'good',
  quarantined: 'bad',
  unhandled: 'warn',
  discarded: 'plain',
};

export function WebhookState({ visit: { t }, state }: { visit: Visit; state: WebhookEventState }) {
  return <Badge tone={tones[state]} text={t(`webhooks.state.${state}`)} />;
}

export function ShownReference({
  visit: { t },
  row: { referenceKind, reference },
}: {
  visit: Visit;
  row: Pick<WebhookRow, 'referenceKind' | 'reference'>;
}): JSX.Element {
  const key = findTextKey(`webhooks.reference.${referenceKind}`);
  if (!key || reference === null) return <>{t('app.none')}</>;
  return (
    <>
      {t(key)} <code>{plainText(reference)}</code>
    </>
  );
}

interface DetailProps {
  visit: Visit;
  found: Awaited<ReturnType<ReceivedWebhooks['get']>>;
}

export function WebhookDetail({ visit, id, found }: DetailProps & { id: string }): JSX.Element {
  const { t, language } = visit;
  const { webhook, bytes, quarantineReason } = found;
  const { state, receivedAt, copies } = webhook;
  const offered = state === 'quarantined' ? decisions : (['process'] as const);
  return (
    <>
      <ConnectionDone visit={visit} />
      {quarantineReason && (
        <Message kind="bad">{t(`webhooks.quarantine.${quarantineReason}`)}</Message>
      )}
      <Cards>
        <FactList
          visit={visit}
          title="webhooks.facts"
          facts={[
            ['webhooks.state', <WebhookState {...{ visit, state }} />],
            ['webhooks.receivedAt', formatTime(receivedAt, language)],
            ['webhooks.processedAt', formatTime(webhook.processedAt, language)],
            ['webhooks.reference', <ShownReference visit={visit} row={webhook} />],
            ['webhooks.copies', formatCount(copies)],
            ['webhooks.bytes', bytes === null ? t('app.none') : formatCount(bytes)],
          ]}
        />
        <Card title={t('webhooks.story')}>
          <Story {...{ visit, found }} />
        </Card>
      </Cards>
      {webhook.reference !== null && <Lines {...{ visit, found }} />}
      <Body {...{ visit, found }} />
      {isAllowedTo(visit, 'send again') && (
        <Card title={t('connections.actions')}>
          {offered.map((name) => (
            <Step
              {...{ visit, action: pathTo(visit, `webhooks/${id}/${name}`), shown: state }}
              button={`webhooks.${name}`}
              hint={`webhooks.${name}.hint`}
              asksReason
            />
          ))}
        </Card>
      )}
    </>
  );
}

function Story({ visit, found: { webhook, relay, lines } }: DetailProps): JSX.Element {
  const { t } = visit;
  const { state, processedAt, receivedAt } = webhook;
  const [line] = lines;
  return (
    <Timeline
      visit={visit}
      entries={[
        { at: receivedAt, tone: 'plain', title: t('webhooks.story.received') },
        ...(line
          ? [{ at: line.recordedAt, tone: 'good' as const, title: t('webhooks.story.line') }]
          : []),
        {
          ...{ at: processedAt, tone: tones[state] },
          title: t(processedAt === null ? `webhooks.now.${state}` : `webhooks.state.${state}`),
        },
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

function Lines({ visit, found: { lines: rows } }: DetailProps): JSX.Element {
  const { t, language } = visit;
  return (
    <Card title={t('webhooks.lines')}>
      <ListTable
        {...{ visit, rows, name: 'webhooks.lines', empty: t('webhooks.noLines') }}
        columns={[
          {
            label: 'webhooks.nsu',
            cell: ({ nsu }) => <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>,
          },
          {
            label: 'webhooks.amount',
            is: 'number',
            cell: (line) => <Movement visit={visit} of={line} />,
          },
          {
            label: 'webhooks.occurredAt',
            cell: ({ occurredAt }) => formatTime(occurredAt, language),
          },
          {
            label: 'webhooks.syncedAt',
            cell: ({ recordedAt }) => formatTime(recordedAt, language),
          },
        ]}
      />
    </Card>
  );
}

function Body({ visit, found: { fields, text, bytes } }: DetailProps): JSX.Element {
  const { t } = visit;
  const isMasked = !isAllowedTo(visit, 'see personal data');
  const shown = fields ? prettyJson(stringifyJson(fields)) : text !== null && plainText(text);
  return (
    <Card title={t('webhooks.body')}>
      {isMasked && bytes !== null && <Hint>{t('webhooks.body.masked')}</Hint>}
      {shown ? (
        <Code label={t('webhooks.body')} text={shown} />
      ) : (
        <Empty>{t(bytes === null ? 'webhooks.body.deleted' : 'webhooks.body.unreadable')}</Empty>
      )}
    </Card>
  );
}
