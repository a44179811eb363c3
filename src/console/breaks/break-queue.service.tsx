// The work queue: a dense list of breaks, and beside it the one that is chosen, `?break=ID`. Each
// choice and each action is a link or a form of its own.
import { Injectable } from '@nestjs/common';
import { isUuid } from '../../platform/http/listing.js';
import { BreakPlans } from '../../reconciliation/breaks/break-plans.service.js';
import { BreakReading } from '../../reconciliation/breaks/break-reading.service.js';
import { Pager, Message, Muted } from '../kit/elements.js';
import { SplitPanel, SplitView } from '../kit/break-parts.js';
import { Shown } from '../page.js';
import { callerOf, ForVisit, type Visit } from '../visit.js';
import { Assignees } from './assignees.service.js';
import { readBreakList, type BreakList } from './break-list.js';
import { BreakPage } from './break-page.service.js';
import { QueueHead } from './queue-head.js';
import { QueueTable } from './queue-table.js';
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
  ) {}

  async show(visit: Visit): Promise<Shown> {
    if (visit.isRefresh) {
      const panel = await this.panel(visit, chosenIn(visit), null);
      return new Shown('', panel, { part: panel });
    }
    return this.render(visit, chosenIn(visit), null, 200);
  }

  /** The page with the chosen break, after a form that changed nothing of it. */
  refuse(visit: Visit, id: string, status: number, problem: string | null): Promise<Shown> {
    return this.render(visit, id, problem, status);
  }

  private async render(
    visit: Visit,
    chosen: string | null,
    problem: string | null,
    status: number,
  ): Promise<Shown> {
    const list = readBreakList(visit.query);
    const cursor = visit.query.get('cursor') ?? undefined;
    const isOpen = list.filters.state === 'open';
    const [{ data: rows, next }, totals, snoozed, people, panel] = await Promise.all([
      this.reading.list(callerOf(visit), { ...list.filters, cursor, limit: rowsOfQueue }),
      isOpen ? this.reading.totalOpen(callerOf(visit), list.filters) : null,
      this.plans.countSnoozed(visit.accountId),
      this.assignees.list(visit),
      this.panel(visit, chosen, problem),
    ]);
    // The filters show what is selected where the address says nothing of it.
    const shown = { ...visit, query: shownQuery(list, cursor) };
    const body = (
      <SplitView
        list={
          <>
            {!chosen && <DoneMessage address={list.address} />}
            <ForVisit visit={shown}>
              <QueueHead {...{ list, totals, snoozed, people }} />
            </ForVisit>
            <QueueTable
              {...{ list, rows, chosen, people, count: totals?.breaks ?? null }}
              empty={emptyText(list, next)}
            />
            <ForVisit visit={shown}>
              <Pager next={next} />
            </ForVisit>
            <ListShortcuts />
          </>
        }
        panel={panel}
      />
    );
    return new Shown(visit.t('section.breaks'), body, { status });
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

function shownQuery({ address, filters }: BreakList, cursor: string | undefined) {
  const query = new URLSearchParams(address);
  if (filters.snoozed === false) query.set('snoozed', 'false');
  if (cursor !== undefined) query.set('cursor', cursor);
  return query;
}

function emptyText({ filters }: BreakList, next: string | null) {
  if (next !== null) return 'breaks.more';
  return filters.state === 'open' ? 'breaks.emptyOpen' : 'breaks.empty';
}
