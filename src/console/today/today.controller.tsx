// The first page of an account: whether everything is explained, and what is not. It reads what
// `GET /v1/summary` reads, and refreshes itself.
import { Controller } from '@nestjs/common';
import { Database } from '../../database.service.js';
import { invariant } from '../../platform/errors.js';
import {
  listBreakCounts,
  loadSummary,
  type BreakCount,
} from '../../reconciliation/api/summary.queries.js';
import { urgentKinds } from '../../reconciliation/decide/break-kinds.js';
import { BankTime } from '../../statement/bank-time.service.js';
import { readStatementView } from '../../statement/statement-view.queries.js';
import { WebhookHealth } from '../../webhooks/webhook-health.service.js';
import { ConsolePage, Visiting } from '../console-page.decorator.js';
import { formatAmount, formatClock, formatCount, formatDuration, formatTime } from '../formats.js';
import { Message, DataTable } from '../frame.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { findProblems } from './today.js';

@Controller()
export class TodayPage {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly webhookHealth: WebhookHealth,
  ) {}

  @ConsolePage({
    path: '/console/accounts/:account/today',
    needs: 'view',
    menu: { title: 'today.title', section: 'today', place: 10 },
  })
  async today(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { session, t } = visit;
    invariant(session?.account, 'the page is of an account');
    const facts = await this.read(session.account.id);
    const part = <Today visit={visit} facts={facts} />;
    return new Shown(t('today.title'), part, { part });
  }

  private async read(accountId: number) {
    const { prisma, sql } = this.database;
    const now = await this.database.now();
    const today = await this.bankTime.today(accountId);
    const [summary, view, breaks, health] = await Promise.all([
      loadSummary(prisma, accountId, today),
      readStatementView(prisma, accountId),
      listBreakCounts(sql, accountId),
      this.webhookHealth.measure(accountId, {}),
    ]);
    const { total, matched, classified, inBreak } = summary;
    return {
      ...{ now, summary, breaks, liveBalance: view.liveBalance },
      pending: total - matched - classified - inBreak,
      webhooks: health.types.find(({ type }) => type === null) ?? null,
    };
  }
}

type Facts = Awaited<ReturnType<TodayPage['read']>>;
interface Props {
  visit: Visit;
  facts: Facts;
}

/** The whole page replaces itself. Refreshing it is no use of the session. */
function Today({ visit, facts }: Props) {
  const { t, language, path } = visit;
  return (
    <div id="today" hx-get={path} hx-trigger="every 15s" hx-swap="outerHTML">
      <State visit={visit} facts={facts} />
      <div class="cards">
        <Statement visit={visit} facts={facts} />
        <Counts visit={visit} facts={facts} />
      </div>
      <p class="hint">{t('app.updated', { time: formatClock(facts.now, language) })}</p>
      <Breaks visit={visit} breaks={facts.breaks} />
    </div>
  );
}

function State({ visit: { t }, facts: { summary, liveBalance, pending } }: Props) {
  const problems = findProblems({
    ...summary,
    pending,
    balanceAgrees: liveBalance?.agrees ?? null,
    unknown: summary.unknown + summary.needsOperator,
  });
  const [first, ...others] = problems;
  const write = ({ key, count }: (typeof problems)[number]) =>
    t(key, count === null ? {} : { count: formatCount(count) });
  return (
    <>
      {summary.mode !== 'live' && (
        <Message kind="warn">
          {t('today.stopped', { reason: summary.modeReason ?? summary.mode })}
        </Message>
      )}
      <div class={`notice state ${first ? 'bad' : 'good'}`} role="status">
        {first ? write(first) : t(summary.total > 0n ? 'today.explained' : 'today.noLines')}
        {others.length > 0 && (
          <ul>
            {others.map((problem) => (
              <li>{write(problem)}</li>
            ))}
          </ul>
        )}
      </div>
    </>
  );
}

function Statement({ visit, facts: { summary, liveBalance } }: Props) {
  const { t, language } = visit;
  const none = t('app.none');
  const { balanceCents } = summary;
  return (
    <Facts
      visit={visit}
      title="today.statement"
      facts={[
        ['today.lastNsu', summary.lastNsu?.toString() ?? none],
        ['today.balance', balanceCents === null ? none : formatAmount(balanceCents)],
        [
          'today.bankBalance',
          liveBalance === null
            ? none
            : `${formatAmount(liveBalance.amountCents)} (${t(
                liveBalance.agrees ? 'today.agrees' : 'today.differs',
              )})`,
        ],
        ['today.closedUntil', formatTime(summary.closedUntil, language)],
        ['today.syncedAt', formatTime(summary.syncedAt, language)],
      ]}
    />
  );
}

function Counts({ visit, facts: { summary, pending, webhooks } }: Props) {
  const none = visit.t('app.none');
  const count = (key: TextKey, value: bigint) => [key, formatCount(value)] as const;
  const median = webhooks?.p50 ?? null;
  return (
    <>
      <Facts
        visit={visit}
        title="today.lines"
        facts={[
          count('today.total', summary.total),
          count('today.matched', summary.matched),
          count('today.classified', summary.classified),
          count('today.inBreak', summary.inBreak),
          count('today.pendingLines', pending),
        ]}
      />
      <Facts
        visit={visit}
        title="today.operations"
        facts={[
          count('today.sending', summary.sending),
          count('today.unknownOperations', summary.unknown),
          count('today.needsOperator', summary.needsOperator),
        ]}
      />
      <Facts
        visit={visit}
        title="today.webhooks"
        facts={[
          count('today.received', summary.webhooksReceived),
          count('today.pendingWebhooks', summary.webhooksPending),
          count('today.quarantined', summary.webhooksQuarantined),
          ['today.lost', webhooks ? formatCount(webhooks.lost) : none],
          ['today.delay', median === null ? none : formatDuration(median)],
        ]}
      />
      <Facts
        visit={visit}
        title="today.deliveries"
        facts={[
          count('today.pendingWebhooks', summary.deliveriesPending),
          count('today.dead', summary.deliveriesDead),
        ]}
      />
    </>
  );
}

function Facts({
  visit: { t },
  title,
  facts,
}: {
  visit: Visit;
  title: TextKey;
  facts: readonly (readonly [TextKey, string])[];
}) {
  return (
    <section class="card">
      <h2>{t(title)}</h2>
      <dl>
        {facts.map(([key, value]) => (
          <>
            <dt>{t(key)}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function Breaks({ visit, breaks }: { visit: Visit; breaks: readonly BreakCount[] }) {
  const { t } = visit;
  const nameOf = (kind: string) => {
    const key = findTextKey(`break.${kind}`);
    return key ? t(key) : kind;
  };
  return (
    <section class="card">
      <h2>{t('today.breaks')}</h2>
      {breaks.length === 0 ? (
        <p class="muted">{t('today.noBreaks')}</p>
      ) : (
        <DataTable
          visit={visit}
          name={t('today.breaks')}
          columns={['today.kind', 'today.severity', 'today.count']}
        >
          {breaks.map(({ kind, open }) => (
            <tr>
              <td>{nameOf(kind)}</td>
              <td>{t(urgentKinds.includes(kind) ? 'today.urgent' : 'today.byAmount')}</td>
              <td>{formatCount(open)}</td>
            </tr>
          ))}
        </DataTable>
      )}
    </section>
  );
}
