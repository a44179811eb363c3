// Records events for business systems in an outbox, within the transaction of the fact that each
// event reports, and enqueues their deliveries. Events are numbered under a lock of the account,
// which their transaction takes last: their order is the order of the commits.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import {
  afterCommit,
  beforeCommit,
  Database,
  type SqlTx,
} from '../platform/postgres/database.service.js';
import type { Delivery } from '../generated/service/client.js';
import { AppError, conflict } from '../platform/errors.js';
import { stringifyJson } from '../platform/json/exact-json.js';
import { JobQueue } from '../platform/queue/job-queue.js';
import { jobs } from '../platform/queue/queues.js';
import { Every } from '../platform/queue/timers.js';
import { newId } from '../platform/ids.js';
import { beginSpan, toTraceparent } from '../platform/trace.js';
import type { NewEvent } from './event.js';
import {
  insertEvents,
  listDueEndpoints,
  makeDeliveryDueNow,
  type DueEndpoint,
  type EventChunk,
} from './events.queries.js';

/** A statement for fewer events would cost more than it saves. */
const fewEvents = 500;

@Injectable()
export class EventsService {
  /** The events that each transaction in progress will insert, by account. */
  private readonly recorded = new WeakMap<SqlTx, Map<number, EventChunk[]>>();

  constructor(
    private readonly database: Database,
    @InjectQueue(jobs.deliverEvents.name)
    private readonly deliverEventsQueue: JobQueue<'deliverEvents'>,
  ) {}

  /**
   * Records events and their deliveries. They are inserted one after the other, right before the
   * transaction commits. Call `enqueueDeliveries` after the commit.
   */
  record(tx: SqlTx, accountId: number, events: readonly NewEvent[]): void {
    if (events.length === 0) return;
    let byAccount = this.recorded.get(tx);
    if (!byAccount) {
      const ofTransaction = (byAccount = new Map<number, EventChunk[]>());
      this.recorded.set(tx, ofTransaction);
      beforeCommit(tx, () => insertByAccount(tx, ofTransaction));
    }
    const chunks = byAccount.get(accountId) ?? [];
    byAccount.set(accountId, chunks);
    const rows = events.map(({ type, resource, traceparent }) => {
      const id = newId();
      const span = beginSpan(`event ${type}`, 'PRODUCER', traceparent);
      span?.set({ 'concilia.event_id': id });
      if (span) afterCommit(tx, () => span.end());
      return {
        ...{ id, type, resourceKind: resource.kind, resourceId: resource.id },
        traceparent: span && toTraceparent(span.context),
      };
    });
    // One text for all: those of thousands of events, in pieces, would be much to keep.
    const data = events.map((event) => stringifyJson(event.data)).join('\n');
    const last = chunks.at(-1);
    if (last && last.events.length < fewEvents) {
      for (const row of rows) last.events.push(row);
      last.data += `\n${data}`;
    } else chunks.push({ events: rows, data });
  }

  /** Whether the transaction inserts events, whose deliveries are enqueued after the commit. */
  hasRecorded(tx: SqlTx): boolean {
    return this.recorded.has(tx);
  }

  /**
   * Delivers the event of a delivery once more, to the same endpoint or to another one. Throws
   * `not_found` for an unknown delivery or endpoint, and `conflict` where the endpoint was removed.
   */
  async replay(accountId: number, deliveryId: string, toEndpointId?: string): Promise<Delivery> {
    const { prisma } = this.database;
    const original = await prisma.delivery.findUnique({
      where: { accountId_id: { accountId, id: deliveryId } },
    });
    if (!original) throw new AppError('not_found');
    const { eventId, endpointId } = original;
    const to = { accountId, eventId, endpointId: toEndpointId ?? endpointId };
    const due = await makeDeliveryDueNow(prisma, to);
    if (!due && toEndpointId !== undefined) throw new AppError('not_found');
    if (!due)
      throw conflict(
        'endpoint_removed',
        'The endpoint of this delivery was removed: name another one as endpointId.',
      );
    await this.enqueueDeliveries(accountId);
    return prisma.delivery.findUniqueOrThrow({
      where: { accountId_id: { accountId, id: due.id } },
    });
  }

  /** Enqueues the due deliveries of every account; their jobs may have been lost with the queue. */
  @Every('deliveries', 1)
  async enqueueAllDeliveries(): Promise<void> {
    await this.enqueueDue(await listDueEndpoints(this.database.prisma, null));
  }

  /** Enqueues the due deliveries of one account. */
  async enqueueDeliveries(accountId: number): Promise<void> {
    await this.enqueueDue(await listDueEndpoints(this.database.sql, accountId));
  }

  private async enqueueDue(endpoints: readonly DueEndpoint[]): Promise<void> {
    for (const endpoint of endpoints) await this.deliverEventsQueue.enqueue(endpoint);
  }
}

/** In the order of the accounts, so that two transactions cannot wait for each other. */
async function insertByAccount(
  tx: SqlTx,
  byAccount: ReadonlyMap<number, EventChunk[]>,
): Promise<void> {
  for (const [accountId, chunks] of [...byAccount].sort(([a], [b]) => a - b))
    await insertEvents(tx, accountId, chunks);
}
