// How one webhook looks, with what it led to.
import type { WebhookEventState } from '../../generated/service/enums.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import type { WebhookRow } from '../../webhooks/received/received-webhooks.queries.js';
import type { ReceivedWebhooks } from '../../webhooks/received/received-webhooks.service.js';
import {
  badgeOf,
  Movement,
  Card,
  Code,
  Empty,
  FactList,
  Timeline,
  Message,
  Cards,
  Hint,
  type Tone,
} from '../kit/elements.js';
import { Step } from '../kit/form.js';
import { formatCount } from '../formats.js';
import { TableCard } from '../kit/table.js';
import { findTextKey } from '../texts.js';
import { useVisit } from '../visit.js';
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

export const WebhookState = badgeOf('webhooks.state', tones);

export function ShownReference({
  row: { referenceKind, reference },
}: {
  row: Pick<WebhookRow, 'referenceKind' | 'reference'>;
}) {
  const { t } = useVisit();
  const key = findTextKey(`webhooks.reference.${referenceKind}`);
  if (!key || reference === null) return <>{t('app.none')}</>;
  return (
    <>
      {t(key)} <code>{plainText(reference)}</code>
    </>
  );
}

interface DetailProps {
  found: Awaited<ReturnType<ReceivedWebhooks['get']>>;
}

export function WebhookDetail({ id, found }: DetailProps & { id: string }) {
  const { t, time, to, may } = useVisit();
  const { webhook, bytes, quarantineReason } = found;
  const { state, receivedAt, copies } = webhook;
  const offered = state === 'quarantined' ? decisions : (['process'] as const);
  return (
    <>
      <ConnectionDone />
      {quarantineReason && (
        <Message kind="bad">{t(`webhooks.quarantine.${quarantineReason}`)}</Message>
      )}
      <Cards>
        <FactList
          title="word.facts"
          facts={[
            ['word.status', <WebhookState state={state} />],
            ['webhooks.receivedAt', time(receivedAt)],
            ['webhooks.processedAt', time(webhook.processedAt)],
            ['word.reference', <ShownReference row={webhook} />],
            ['webhooks.copies', formatCount(copies)],
            ['webhooks.bytes', bytes === null ? t('app.none') : formatCount(bytes)],
          ]}
        />
        <Card title={t('word.whatHappened')}>
          <Story found={found} />
        </Card>
      </Cards>
      {webhook.reference !== null && <Lines found={found} />}
      <Body found={found} />
      {may('send again') && (
        <Card title={t('word.actions')}>
          {offered.map((name) => (
            <Step
              {...{ action: to(`webhooks/${id}/${name}`), shown: state }}
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

function Story({ found: { webhook, relay, lines } }: DetailProps) {
  const { t } = useVisit();
  const { state, processedAt, receivedAt } = webhook;
  const [line] = lines;
  return (
    <Timeline
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
                    <DeliveryBadge state={relay.state} />{' '}
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

function Lines({ found: { lines: rows } }: DetailProps) {
  const { to } = useVisit();
  return (
    <TableCard
      {...{ rows, title: 'webhooks.lines', empty: 'webhooks.noLines' }}
      columns={{
        'word.nsu': ({ nsu }) => <a href={to(`statement/${nsu}`)}>{nsu.toString()}</a>,
        'word.amount': { is: 'number', cell: (line) => <Movement of={line} /> },
        'webhooks.occurredAt': { at: ({ occurredAt }) => occurredAt },
        'webhooks.syncedAt': { at: ({ recordedAt }) => recordedAt },
      }}
    />
  );
}

function Body({ found: { fields, text, bytes } }: DetailProps) {
  const { t, may } = useVisit();
  const isMasked = !may('see personal data');
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
