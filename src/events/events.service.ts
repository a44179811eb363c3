// Records events for business systems in an outbox, within the transaction of the fact that each
// event reports, and enqueues their deliveries.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Tx } from '../database.service.js';
import type { Delivery } from '../generated/service/client.js';
import { AppError } from '../platform/errors.js';
import { stringifyJson } from '../platform/exact-json.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import type { NewEvent } from './event.js';
import { insertEvents, listDueEndpoints, makeDeliveryDueNow } from './events.queries.js';

@Injectable()
export class EventsService {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Records events and their deliveries. Call `enqueueDeliveries` after the commit. */
  async record(tx: Tx, accountId: number, events: NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const rows = events.map(({ type, data }) => ({
      id: uuidv7(),
      type,
      data: stringifyJson(data),
    }));
    await insertEvents(tx, accountId, rows);
  }

  /**
   * Delivers an event once more. Throws `not_found`, and `conflict` where the endpoint was removed.
   */
  async replay(accountId: number, deliveryId: string): Promise<Delivery> {
    const { prisma } = this.database;
    const where = { accountId_id: { accountId, id: deliveryId } };
    if (!(await prisma.delivery.findUnique({ where }))) throw new AppError('not_found');
    if (!(await makeDeliveryDueNow(prisma, accountId, deliveryId)))
      throw new AppError('conflict', { public: 'The endpoint of this delivery was removed.' });
    await this.enqueueDeliveries(accountId);
    return prisma.delivery.findUniqueOrThrow({ where });
  }

  /** Enqueues the due deliveries of every account; their jobs may have been lost with the queue. */
  @Every('deliveries', 1_000)
  async enqueueAllDeliveries(): Promise<void> {
    await this.enqueueDeliveries(null);
  }

  /** Enqueues the due deliveries of one account; null: of all. */
  async enqueueDeliveries(accountId: number | null): Promise<void> {
    for (const endpoint of await listDueEndpoints(this.database.prisma, accountId))
      await this.jobQueue.enqueue('deliverEvents', endpoint);
  }
}
