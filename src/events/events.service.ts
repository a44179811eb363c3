// Events for business systems: an outbox, written in the transaction of the fact that it tells of.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Database, type Tx } from '../database.service.js';
import type { Delivery } from '../generated/service/client.js';
import { AppError } from '../platform/errors.js';
import { stringifyJson } from '../platform/exact-json.js';
import { JobQueue } from '../platform/job-queue.js';
import { insertEvents, listDueEndpoints, makeDueAgain } from './events.queries.js';

/** What a business system may be told of. */
export const eventTypes = [
  'charge.paid',
  'charge.partially_paid',
  'charge.overpaid',
  'charge.refunded',
  'transaction.unexpected',
  'charge.cancelled',
  'charge.expired',
  'operation.unknown',
  'operation.succeeded',
  'operation.rejected',
  'operation.not_executed',
  'operation.needs_operator',
  'transfer.effective',
  'transfer.failed',
  'transfer.settled',
  'transfer.reversed',
  'bill_payment.scheduled',
  'bill_payment.failed',
  'bill_payment.settled',
  'bill_payment.reversed',
  'refund.settled',
  'refund.reversed',
  'break.opened',
  'break.resolved',
  'reconciliation.finished',
  'reconciliation.failed',
  'day_close.certified',
  'day_close.amended',
] as const;
export type EventType = (typeof eventTypes)[number];

export interface NewEvent {
  type: EventType;
  /** Written as exact JSON; amounts in reais. */
  data: Record<string, unknown>;
}

@Injectable()
export class EventsService {
  constructor(
    private readonly database: Database,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Writes events and their deliveries; `announce` after the commit sends them on their way. */
  async record(tx: Tx, accountId: number, events: NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const rows = events.map(({ type, data }) => ({
      id: uuidv7(),
      type,
      data: stringifyJson(data),
    }));
    await insertEvents(tx, accountId, rows);
  }

  /** Sends an event to its endpoint once more. Throws `not_found`, and `conflict` for a removed endpoint. */
  async replay(accountId: number, deliveryId: string): Promise<Delivery> {
    const { prisma } = this.database;
    const where = { accountId_id: { accountId, id: deliveryId } };
    if (!(await prisma.delivery.findUnique({ where }))) throw new AppError('not_found');
    if (!(await makeDueAgain(prisma, accountId, deliveryId)))
      throw new AppError('conflict', { public: 'The endpoint of this delivery was removed.' });
    await this.announce(accountId);
    return prisma.delivery.findUniqueOrThrow({ where });
  }

  /** Wakes the delivery of what is due: to one account's endpoints, or to everyone's. */
  async announce(accountId: number | null): Promise<void> {
    for (const endpoint of await listDueEndpoints(this.database.prisma, accountId))
      await this.jobQueue.enqueue('deliverEvents', endpoint);
  }
}
