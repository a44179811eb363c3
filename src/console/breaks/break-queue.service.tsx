// The work queue: a dense list of breaks, and beside it the one that is chosen, `?break=ID`. Each
// choice and each action is a link or a form of its own.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { Database } from '../../platform/postgres/database.service.js';
import { isUuid, type ListTotal } from '../../platform/http/listing.js';
import { isBreakPlace } from '../../reconciliation/breaks/break-list.queries.js';
import { BreakPlans } from '../../reconciliation/breaks/break-plans.service.js';
import {
  BreakReading,
  type VersionedView,
} from '../../reconciliation/breaks/break-reading.service.js';
import { listBreaks } from '../../reconciliation/breaks/breaks.schema.js';
import type { BreakTotals } from '../../reconciliation/breaks/open-break-counts.js';
import { Message, Muted } from '../kit/elements.js';
import { listPage } from '../kit/list-page.js';
import { SplitPanel, SplitView } from '../kit/break-parts.js';
import { Shown, type DeclaredList, type PageAnswer } from '../page.js';
import { callerOf, type Visit } from '../visit.js';
import { Assignees } from './assignees.service.js';
import { readBreakList, type BreakList } from './break-list.js';
import { BreakPage } from './break-page.service.js';
import { queueDefaults, queueFilters, Sums, Works } from './queue-head.js';
import { QueueActions, queueColumns, type RowFacts } from './queue-table.js';
import { DoneMessage } from './done-message.js';
import { ListShortcuts } from './shortcuts.js';

/** More than a screen has, so that one page is much of a day's work. */
const rowsOfQueue = 50;

@Injectable()
export class BreakQueue {
  constructor(
    private readonly reading: BreakReading,
    private readonly page: BreakPage,
    private readonly plans: BreakPlans,
    private readonly assignees: Assignees,
    private readonly database: Database,
  ) {}

  async show(visit: Visit): Promise<PageAnswer> {
    if (visit.isRefresh) {
      const panel = await this.panel(visit, chosenIn(visit), null);
      return new Shown('', panel, { part: panel });
    }
    return this.render(visit, chosenIn(visit), null, 200);
  }

  /** The page with the chosen break, after a form that changed nothing of it. */
  refuse(visit: Visit, id: string, status: number, problem: string | null): Promise<DeclaredList> {
    return this.render(visit, id, problem, status);
  }

  private async render(
    visit: Visit,
    chosen: string | null,
    problem: string | null,
    status: number,
  ): Promise<DeclaredList> {
    const list = readBreakList(visit.query);
    const isOpen = list.filters.state === 'open';
    const caller = callerOf(visit);
    const [totals, snoozed, people, panel] = await Promise.all([
      isOpen ? this.reading.totalOpen(caller, list.filters) : null,
      this.plans.countSnoozed(visit.accountId),
      this.assignees.list(visit),
      this.panel(visit, chosen, problem),
    ]);
    return listPage({
      ...{ status, page: 'breaks', title: 'section.breaks', hasKeys: true, rows: rowsOfQueue },
      empty: isOpen ? 'breaks.emptyOpen' : 'breaks.empty',
      // The filters show what is selected where the address says nothing of it.
      visit: { ...visit, query: shownQuery(list, visit.query.get('cursor')) },
      query: listBreaks.query,
      filters: queueFilters(visit, people),
      defaults: queueDefaults,
      isCursor: isBreakPlace,
      read: (_page, query) => this.reading.list(caller, query),
      ...(totals && { total: () => Promise.resolve(totalOf(totals)) }),
      columns: async (rows) =>
        queueColumns(visit, { list, chosen, people, facts: await this.readFacts(visit, rows) }),
      head: <Works {...{ list, snoozed }} />,
      around: (table, rows) => (
        <QueueActions {...{ list, table }} isEmpty={rows.length === 0} count={totals?.breaks} />
      ),
      frame: (queue) => (
        <>
          {totals && <Sums {...{ list, totals }} />}
          <SplitView
            list={
              <>
                {!chosen && <DoneMessage address={list.address} />}
                {queue}
                <ListShortcuts />
              </>
            }
            panel={panel}
          />
        </>
      ),
    });
  }

  /** The way and the day of what each break is about. */
  private async readFacts({ accountId }: Visit, rows: readonly VersionedView[]): Promise<RowFacts> {
    const db = this.database.prisma;
    const nsus = rows.flatMap(({ nsu }) => nsu ?? []);
    const ids = rows.flatMap(({ nsu, expectedPaymentId }) =>
      nsu ? [] : (expectedPaymentId ?? []),
    );
    const [lines, payments] = await Promise.all([
      db.statementLine.findMany({
        where: { accountId, nsu: { in: nsus } },
        select: { nsu: true, isCredit: true, occurredAt: true },
      }),
      db.expectedPayment.findMany({
        where: { accountId, id: { in: ids } },
        select: { id: true, isCredit: true },
      }),
    ]);
    const lineOf = new Map(lines.map((line) => [line.nsu, line]));
    const paymentOf = new Map(payments.map((payment) => [payment.id, payment]));
    return ({ nsu, expectedPaymentId, openedAt }) => {
      const line = lineOf.get(nsu ?? -1n);
      const of = line ?? paymentOf.get(expectedPaymentId ?? '');
      return { isCredit: of?.isCredit ?? null, day: saoPauloDay(line?.occurredAt ?? openedAt) };
    };
  }

  private async panel(visit: Visit, chosen: string | null, problem: string | null) {
    const { t } = visit;
    if (chosen === null)
      return (
        <SplitPanel label={t('breaks.chosen')} isChosen={false}>
          <Muted>{t('breaks.chooseOne')}</Muted>
        </SplitPanel>
      );
    return (
      <SplitPanel label={t('breaks.chosen')} isChosen>
        {problem !== null && <Message kind="bad">{problem}</Message>}
        {await this.page.viewInQueue(visit, chosen)}
      </SplitPanel>
    );
  }
}

function chosenIn({ query }: Visit): string | null {
  const id = query.get('break') ?? '';
  return isUuid(id) ? id : null;
}

function shownQuery({ address, filters }: BreakList, cursor: string | null) {
  const query = new URLSearchParams(address);
  if (filters.snoozed === false) query.set('snoozed', 'false');
  if (filters.sort) query.set('sort', filters.sort);
  if (cursor !== null) query.set('cursor', cursor);
  return query;
}

const totalOf = ({ breaks, cents }: BreakTotals): ListTotal => ({
  ...{ count: Number(breaks), isComplete: true, cents },
});
