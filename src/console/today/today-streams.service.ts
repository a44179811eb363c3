// Sends *Today* to its open pages when something has changed. One reader serves all pages of an
// account in this process: it looks for a change once a second, and writes each language and role
// once, so that a hundred open pages cost what one costs.
import { Readable } from 'node:stream';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { VNode } from 'preact';
import { OperatorSessions } from '../../access/people/sessions.service.js';
import { AppError } from '../../platform/errors.js';
import { Log } from '../../platform/log.js';
import { WorkerLoop } from '../../platform/queue/worker-loop.js';
import { withUnseenNamed } from '../formats.js';
import { accountOf, sessionOf, renderFor, type Visit } from '../visit.js';
import { PageStream } from './page-stream.js';
import { TodayFactsReader, type TodayReading } from './today-facts.service.js';

const lookMs = 1_000;
/** What the mark does not show, such as the age of a sync, is read again after this time. */
const rereadMs = 30_000;
const sessionCheckMs = 20_000;
const heartbeatMs = 15_000;
/** A browser has six connections to a host: some are left for other pages. */
const maxOfPerson = 4;
const maxOfProcess = 1_000;

type WritePart = (reading: TodayReading) => Promise<VNode>;

/** An open page, its person, and how its part is written. */
interface OpenPage {
  stream: PageStream;
  visit: Visit;
  write: WritePart;
}

/** The open pages of an account. Times are of the process's monotonic clock. */
interface Watch {
  accountId: number;
  pages: Set<OpenPage>;
  loop: WorkerLoop;
  mark: string | null;
  reading: TodayReading | null;
  readAt: number;
  checkedAt: number;
  beatAt: number;
}

@Injectable()
export class TodayStreams implements OnModuleInit {
  private readonly watches = new Map<number, Watch>();
  private isStopping = false;

  constructor(
    private readonly facts: TodayFactsReader,
    private readonly sessions: OperatorSessions,
    private readonly log: Log,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** The server waits for its responses when it closes. */
  onModuleInit(): void {
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('preClose', () => this.cutAll());
  }

  /** Throws `not_ready` where the process has too many. The oldest of a person makes place. */
  open(visit: Visit, write: WritePart): Readable {
    const all = this.listOpen();
    if (this.isStopping || all.length >= maxOfProcess) throw new AppError('not_ready');
    const { operatorId } = sessionOf(visit);
    const own = all.filter(({ page }) => sessionOf(page.visit).operatorId === operatorId);
    for (const { watch, page } of own.slice(0, Math.max(0, own.length - maxOfPerson + 1)))
      this.finish(watch, page, 'end');
    const { id } = accountOf(visit);
    const body = new Readable({ read: () => undefined });
    const page = { stream: new PageStream(keyOf(visit), body), visit, write };
    const watch = this.watches.get(id) ?? this.beginWatch(id);
    watch.pages.add(page);
    body.once('close', () => this.forget(watch, page));
    watch.loop.trigger();
    return body;
  }

  /** How many pages are open in this process. */
  get size(): number {
    return this.listOpen().length;
  }

  async cutAll(): Promise<void> {
    this.isStopping = true;
    const watches = [...this.watches.values()];
    for (const { watch, page } of this.listOpen()) this.finish(watch, page, 'cut');
    await Promise.all(watches.map(({ loop }) => loop.stop()));
  }

  private listOpen(): { watch: Watch; page: OpenPage }[] {
    return [...this.watches.values()].flatMap((watch) =>
      [...watch.pages].map((page) => ({ watch, page })),
    );
  }

  private beginWatch(accountId: number): Watch {
    const loop = new WorkerLoop(() => this.look(watch), lookMs);
    const watch: Watch = {
      ...{ accountId, loop, pages: new Set<OpenPage>(), mark: null, reading: null },
      ...{ readAt: -Infinity, checkedAt: performance.now(), beatAt: performance.now() },
    };
    this.watches.set(accountId, watch);
    return watch;
  }

  /** A stream that nobody reads any more reports no end. */
  private finish(watch: Watch, page: OpenPage, how: 'end' | 'cut'): void {
    page.stream[how]();
    this.forget(watch, page);
  }

  private forget(watch: Watch, page: OpenPage): void {
    watch.pages.delete(page);
    if (watch.pages.size > 0 || watch.loop.isStopped) return;
    this.watches.delete(watch.accountId);
    void watch.loop.stop();
  }

  /** Where reading fails, the streams are cut off: browsers open them again, a while later. */
  private async look(watch: Watch): Promise<number> {
    try {
      await this.update(watch);
    } catch (error) {
      this.log.warn({ err: error, accountId: watch.accountId }, 'open pages could not be updated');
      for (const page of watch.pages) this.finish(watch, page, 'cut');
    }
    return lookMs;
  }

  private async update(watch: Watch): Promise<void> {
    const { accountId, pages } = watch;
    const now = performance.now();
    const today = watch.reading?.today ?? (await this.facts.readToday(accountId));
    const mark = await this.facts.readMark(accountId, today);
    const ageMs = now - watch.readAt;
    const isStale = ageMs >= (mark === watch.mark ? rereadMs : lookMs);
    const isDue = isStale || [...pages].some(({ stream }) => stream.isNew);
    if (isDue || now - watch.checkedAt >= sessionCheckMs) {
      await this.endClosed(watch);
      watch.checkedAt = now;
    }
    if (isDue) {
      if (isStale || !watch.reading) {
        // The mark is of before the reading: what changes meanwhile is read at the next look.
        watch.mark = mark;
        watch.readAt = now;
        watch.reading = await this.facts.readAnew(accountId);
      }
      await send(pages, watch.reading);
    }
    if (now - watch.beatAt < heartbeatMs) return;
    watch.beatAt = now;
    for (const { stream } of pages) stream.sendHeartbeat();
  }

  /** Ends the streams of sessions that have ended, and of persons whose role has changed. */
  private async endClosed(watch: Watch): Promise<void> {
    const { accountId } = watch;
    // A page that opens while the roles are read has just been checked by the guard.
    const pages = [...watch.pages];
    const tokens = [...new Set(pages.map(({ visit }) => sessionOf(visit).token))];
    const roles = await this.sessions.rolesOf(tokens, accountId);
    for (const page of pages)
      if (roles.get(sessionOf(page.visit).token) !== accountOf(page.visit).role)
        this.finish(watch, page, 'end');
  }
}

/** All that the part of a page depends on beside the facts of its account. */
function keyOf(visit: Visit): string {
  return `${visit.language} ${accountOf(visit).role} ${visit.query.has('table')}`;
}

/** Pages with one key are written once. */
async function send(pages: ReadonlySet<OpenPage>, reading: TodayReading): Promise<void> {
  const written = new Map<string, string>();
  for (const { stream, visit, write } of pages) {
    const html = written.get(stream.key) ?? withUnseenNamed(renderFor(visit, await write(reading)));
    written.set(stream.key, html);
    stream.sendPart(html);
  }
}
