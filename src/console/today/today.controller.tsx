// The first page of an account: whether everything is explained, and what is not. It reads what
// `GET /v1/summary` reads, and follows what changes.
import { Controller } from '@nestjs/common';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { EventStream, Shown, type PageAnswer } from '../page.js';
import { accountOf, useVisit, type Visit } from '../visit.js';
import { TodayPart } from './today-part.js';
import { TodayFactsReader, type TodayReading } from './today-facts.service.js';
import { TodayStreams } from './today-streams.service.js';

@Controller()
export class TodayPage {
  constructor(
    private readonly facts: TodayFactsReader,
    private readonly streams: TodayStreams,
  ) {}

  @ConsolePage('today', 'view', { title: 'section.today', section: 'today', place: 10 })
  async today(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id } = accountOf(visit);
    const reading = await (visit.isRefresh ? this.facts.read(id) : this.facts.readAnew(id));
    const part = await writePart(reading);
    return new Shown(visit.t('section.today'), <LivePart>{part}</LivePart>, { part });
  }

  /** Sends the part when something has changed. */
  @ConsolePage('today/events', 'view')
  events(@Visiting() visit: Visit): PageAnswer {
    return new EventStream(this.streams.open(visit, writePart));
  }
}

/** The charts and their libraries are loaded for the first page. */
async function writePart(reading: TodayReading) {
  const charts = await import('../kit/day-charts.js');
  return <TodayPart reading={reading} charts={charts} />;
}

/**
 * The part is replaced by what the stream sends. Without a stream, the page asks by itself once a
 * minute. Neither is a use of the session.
 */
function LivePart({ children }: { children: PageChild }) {
  const visit = useVisit();
  const path = visit.to('today');
  const query = visit.query.has('table') ? '?table=1' : '';
  return (
    <div
      hx-ext="sse"
      sse-connect={`${path}/events${query}`}
      sse-close="ended"
      hx-get={`${path}${query}`}
      hx-trigger="every 60s, sse:ended"
      hx-target="#today"
      hx-swap="innerHTML"
    >
      <div id="today" sse-swap="today">
        {children}
      </div>
    </div>
  );
}

type PageChild = Awaited<ReturnType<typeof writePart>>;
