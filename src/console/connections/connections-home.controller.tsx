// The first page of an operator: what passes between the bank, this service and the company's
// systems, since when it waits, and where something can be done about it.
import { Controller } from '@nestjs/common';
import { Operators } from '../../access/people/operators.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { QueueMetrics } from '../../platform/queue/queue-metrics.js';
import { Alerts } from '../../reporting/alerts/alerts.service.js';
import { WebhookHealth } from '../../webhooks/health/webhook-health.service.js';
import { formatClock, formatCount, formatDuration } from '../formats.js';
import { Badge, Card, Muted, type Tone } from '../kit/elements.js';
import { ListTable, TableCard } from '../kit/table.js';
import { Shown, type PageAnswer } from '../page.js';
import { sessionOf, useVisit, type Visit } from '../visit.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { wordOf, type TextKey } from '../texts.js';
import {
  countWaiting,
  listSyncs,
  readLastWebhook,
  type AccountSync,
  type WaitingRows,
} from './connection-facts.queries.js';

/** One kind of traffic, and how it stands. */
interface Traffic {
  label: TextKey;
  tone: Tone;
  state: TextKey;
  count: bigint | number | null;
  since: string | null;
  /** What to do about it, and the page for it; null where there is nothing to do. */
  action: { label: TextKey; page: string } | null;
}

type Facts = Awaited<ReturnType<ConnectionsHome['read']>>;

@Controller()
export class ConnectionsHome {
  constructor(
    private readonly database: Database,
    private readonly webhookHealth: WebhookHealth,
    private readonly alerts: Alerts,
    private readonly queue: QueueMetrics,
    private readonly operators: Operators,
  ) {}

  @ConsolePage('connections', 'view', {
    title: 'section.connections',
    section: 'connections',
    place: 63,
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const facts = await this.read(visit.accountId, sessionOf(visit).operatorId);
    const body = (
      <>
        <Card>
          <TrafficTable facts={facts} />
        </Card>
        <Syncs facts={facts} />
        <Muted>{visit.t('app.updated', { time: formatClock(facts.now, visit.language) })}</Muted>
      </>
    );
    return new Shown(visit.t('section.connections'), body);
  }

  private async read(accountId: number, operatorId: string) {
    const { prisma } = this.database;
    const accounts = await this.operators.listVisibleAccounts(operatorId);
    const slugs = accounts.map(({ slug }) => slug);
    const [now, waiting, lastWebhook, health, failure, queue, firing, syncs] = await Promise.all([
      this.database.now(),
      countWaiting(prisma, accountId),
      readLastWebhook(prisma, accountId),
      this.webhookHealth.measure(accountId, {}),
      this.webhookHealth.findRegistrationFailure(accountId),
      this.queue.readWaiting(),
      this.alerts.countFiring(accountId),
      listSyncs(prisma, slugs),
    ]);
    const total = health.types.find(({ type }) => type === null) ?? null;
    return { now, waiting, lastWebhook, total, failure, queue, firing, syncs };
  }
}

/** What waits, and what it is called: its tone, and what to do about it. */
const waitingKinds = {
  'webhooks pending': ['connections.webhooksPending', 'warn', 'webhooks?state=pending'],
  'webhooks quarantined': ['connections.quarantined', 'bad', 'webhooks?state=quarantined'],
  'deliveries pending': ['connections.deliveriesPending', 'warn', 'deliveries?state=pending'],
  'deliveries dead': ['connections.dead', 'bad', 'deliveries?state=dead'],
} as const satisfies Record<WaitingRows['kind'], readonly [TextKey, Tone, string]>;

function listTraffic(visit: Visit, facts: Facts): Traffic[] {
  const { t, time } = visit;
  const { lastWebhook, total, failure, waiting, queue, firing } = facts;
  const good = { tone: 'good', state: 'connections.good' } as const;
  const lost = total?.lost ?? 0n;
  const waits = Object.entries(waitingKinds).map(([kind, [label, tone, page]]): Traffic => {
    const found = waiting.find((one) => one.kind === kind);
    const none = { label, ...good, count: 0, since: null, action: null };
    if (!found) return none;
    const [state, does] =
      tone === 'bad'
        ? (['connections.failing', 'word.decide'] as const)
        : (['connections.waiting', 'connections.see'] as const);
    return {
      ...{ label, tone, state, count: found.count },
      since: time(found.since),
      action: { label: does, page },
    };
  });
  return [
    {
      label: 'connections.lastWebhook',
      ...(failure === null ? good : ({ tone: 'bad', state: 'connections.failing' } as const)),
      count: null,
      since: lastWebhook && time(lastWebhook),
      action:
        failure === null
          ? { label: 'connections.see', page: 'webhooks' }
          : { label: 'health.register', page: 'webhook-health/registrations' },
    },
    {
      label: 'connections.lost',
      ...(lost > 0n ? ({ tone: 'warn', state: 'connections.failing' } as const) : good),
      count: lost,
      since:
        total?.p50 != null ? t('connections.delay', { time: formatDuration(total.p50) }) : null,
      action: { label: 'connections.see', page: 'webhook-health' },
    },
    ...waits,
    {
      label: 'connections.queue',
      ...(queue.jobs > 0 ? ({ tone: 'plain', state: 'connections.waiting' } as const) : good),
      count: queue.jobs,
      since:
        queue.jobs > 0
          ? t('connections.oldest', { time: formatDuration(queue.oldestSeconds * 1_000) })
          : null,
      action: null,
    },
    {
      label: 'connections.alerts',
      ...(firing > 0 ? ({ tone: 'warn', state: 'connections.waiting' } as const) : good),
      count: firing,
      since: null,
      action: firing > 0 ? { label: 'word.decide', page: 'alerts?state=firing' } : null,
    },
  ];
}

function TrafficTable({ facts }: { facts: Facts }) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <ListTable
      {...{ name: 'section.connections', rows: listTraffic(visit, facts) }}
      columns={{
        'connections.what': { wide: ({ label }) => t(label) },
        'word.status': ({ tone, state }) => <Badge tone={tone} text={t(state)} />,
        'word.count': {
          is: 'number',
          cell: ({ count }) => (count === null ? null : formatCount(count)),
        },
        'word.since': ({ since }) => since,
        'word.whatToDo': ({ action }) =>
          action && <a href={visit.to(action.page)}>{t(action.label)}</a>,
      }}
    />
  );
}

/** The accounts that the person sees. */
function Syncs({ facts: { now, syncs } }: { facts: Facts }) {
  const { t, time } = useVisit();
  const tone = ({ syncedAt, isComplete }: AccountSync): Tone =>
    syncedAt === null ? 'plain' : isComplete ? 'good' : 'bad';
  return (
    <TableCard
      {...{ title: 'connections.syncs', rows: syncs }}
      columns={{
        'word.account': {
          wide: ({ slug, name }) => (
            <a href={`/console/accounts/${slug}/connections`}>{name ?? slug}</a>
          ),
        },
        'word.mode': ({ mode }) => wordOf(t, 'account.mode', mode),
        'word.statement': (sync) => (
          <>
            <Badge tone={tone(sync)} text={t(`connections.statement.${tone(sync) as 'good'}`)} />
            {sync.notGuardedSince && <Badge tone="bad" text={t('connections.notGuarded')} />}
          </>
        ),
        'word.syncedAt': ({ syncedAt }) =>
          syncedAt && (
            <>
              {time(syncedAt)} (
              {t('connections.ago', {
                time: formatDuration(Math.max(0, now.getTime() - syncedAt.getTime())),
              })}
              )
            </>
          ),
        'word.lastNsu': { is: 'number', cell: ({ lastNsu }) => lastNsu?.toString() },
      }}
    />
  );
}
