// Owns the payments that other systems expect on the statement. Each change adds a version, and the
// reconciliation task that decides the payment again is recorded with it.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { eventAmount, type NewEvent } from '../../events/event.js';
import type { EventType } from '../../events/event-types.js';
import { EventsService } from '../../events/events.service.js';
import { AppError, conflict, refuseInvalid } from '../../platform/errors.js';
import { canonicalJson } from '../../platform/json/exact-json.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { isUuid } from '../../platform/http/listing.js';
import {
  amendTerms,
  describeTerms,
  type Amendment,
  type declaredPaymentView,
} from './declared-payments.schema.js';
import { toCoding } from './coding.js';
import * as queries from './declared-payments.queries.js';
import { errorsOfTerms, storedTerms, type DeclaredTerms } from './declared-terms.js';

type PaymentView = z.output<typeof declaredPaymentView>;

/** The version that a person saw and changes; a change is refused once there is another one. */
interface SeenVersion {
  version?: number;
}

@Injectable()
export class DeclaredPayments {
  constructor(
    private readonly database: Database,
    private readonly events: EventsService,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
  ) {}

  /**
   * Declares a payment, or finds the one that was declared before under the same id. Throws
   * `idempotency_key_reused` where that one has other terms.
   */
  async declare(
    author: queries.VersionAuthor,
    externalId: string,
    terms: DeclaredTerms,
  ): Promise<{ id: string; isNew: boolean }> {
    const { accountId } = author;
    const stored = z.encode(storedTerms, terms as never);
    const id = await this.database.transaction((tx) =>
      queries.insertDeclaredPayment(tx, author, externalId, { terms, stored }),
    );
    if (id !== null) {
      await this.reconcileQueue.enqueue({ accountId });
      return { id, isNew: true };
    }
    const { prisma: db } = this.database;
    const first = await this.find(db, accountId, { externalId });
    const declared = await queries.readStoredTerms(db, accountId, first.id, 1);
    // Terms that were stored before a field existed have its default.
    const same = z.encode(storedTerms, readTerms(declared) as never);
    if (canonicalJson(same) !== canonicalJson(stored))
      throw new AppError('idempotency_key_reused', {
        public: 'The externalId names a payment that was declared with other terms.',
      });
    return { id: first.id, isNew: false };
  }

  /** Throws `not_found`, and `conflict` for a cancelled payment. */
  async amend(
    author: queries.VersionAuthor,
    name: string,
    change: Amendment,
    seen: SeenVersion = {},
  ): Promise<string> {
    return this.change(author, name, seen, async (tx, payment, before) => {
      const terms = amendTerms(before, change);
      refuseInvalid(
        Object.fromEntries(
          Object.entries(errorsOfTerms(terms)).map(([field, error]) => [`$.${field}`, [error]]),
        ),
      );
      const stored = z.encode(storedTerms, terms as never);
      // Equal terms are no new version.
      if (canonicalJson(stored) === canonicalJson(z.encode(storedTerms, before as never))) return;
      const next = { id: payment.id, version: payment.version + 1, terms, stored };
      await queries.insertVersion(tx, { ...author, ...next, action: 'amended' });
      this.events.record(tx, author.accountId, [
        changeEvent('expected_payment.amended', payment, terms, author.reason),
      ]);
    });
  }

  /** Throws `not_found`, and `conflict` where a line accounts for the payment. */
  async cancel(
    author: queries.VersionAuthor,
    name: string,
    seen: SeenVersion = {},
  ): Promise<string> {
    const { accountId } = author;
    return this.change(author, name, seen, async (tx, payment, terms) => {
      if (await queries.isPaidFinally(tx, accountId, payment.id))
        throw conflict('expected_payment_paid', 'A statement line accounts for the payment.');
      const stored = z.encode(storedTerms, terms as never);
      const next = { id: payment.id, version: payment.version + 1, terms, stored };
      await queries.insertVersion(tx, { ...author, ...next, action: 'cancelled' });
      await queries.recordCancellation(tx, accountId, payment.id);
      this.events.record(tx, accountId, [
        changeEvent('expected_payment.cancelled', payment, terms, author.reason),
      ]);
    });
  }

  /**
   * `isVisible`: whether the caller may see personal data. Throws `not_found`, also for a payment
   * of another account or of an operation.
   */
  async get(
    accountId: number,
    name: string,
    { isVisible }: { isVisible: boolean },
  ): Promise<PaymentView> {
    const { prisma: db } = this.database;
    const payment = await this.findNamed(db, accountId, name);
    const { id, externalId, version, createdAt, cancelledAt } = payment;
    const [versions, payments, total] = await Promise.all([
      queries.listVersions(db, accountId, id),
      queries.listPayments(db, accountId, id),
      queries.findTotal(db, accountId, id),
    ]);
    const history = versions.map(({ terms, recordedAt: at, ...each }) => ({
      ...describeTerms(readTerms(terms), isVisible),
      ...each,
      at,
    }));
    const current = readTerms(versions[0]?.terms);
    return {
      ...describeTerms(current, isVisible),
      ...{ id, externalId, version, createdAt, history },
      settlement: settlementOf(total, cancelledAt !== null),
      settledAmount: total?.paidCents ?? 0n,
      returnedAmount: total?.returnedCents ?? 0n,
      payments: payments.map(({ amountCents: amount, ...one }) => ({ ...one, amount })),
    };
  }

  private async change(
    { accountId }: queries.VersionAuthor,
    name: string,
    { version }: SeenVersion,
    work: (tx: Tx, payment: queries.DeclaredPayment, terms: DeclaredTerms) => Promise<void>,
  ): Promise<string> {
    const id = await this.database.transaction(async (tx) => {
      const payment = await this.findNamed(tx, accountId, name, { isLocked: true });
      if (payment.cancelledAt !== null)
        throw conflict('expected_payment_cancelled', 'The payment is cancelled.');
      if (version !== undefined && version !== payment.version)
        throw conflict('changed_meanwhile', 'The payment has another version by now.');
      const stored = await queries.readStoredTerms(tx, accountId, payment.id, payment.version);
      await work(tx, payment, readTerms(stored));
      return payment.id;
    });
    await this.reconcileQueue.enqueue({ accountId });
    await this.events.enqueueDeliveries(accountId);
    return id;
  }

  /** A text is our id, or else the client's. */
  private async findNamed(db: Tx, accountId: number, name: string, options = {}) {
    const byId = isUuid(name)
      ? await queries.findDeclaredPayment(db, accountId, { id: name }, options)
      : null;
    return byId ?? this.find(db, accountId, { externalId: name }, options);
  }

  private async find(db: Tx, accountId: number, by: { externalId: string }, options = {}) {
    const found = await queries.findDeclaredPayment(db, accountId, by, options);
    if (!found) throw new AppError('not_found');
    return found;
  }
}

const readTerms = (stored: unknown): DeclaredTerms => z.decode(storedTerms, stored as never);

function settlementOf(
  total: queries.ShownTotal | null,
  isCancelled: boolean,
): PaymentView['settlement'] {
  const settlement = total?.settlement ?? 'open';
  if (isCancelled && (settlement === 'withdrawn' || settlement === 'open')) return 'cancelled';
  return total?.isOverdue ? 'overdue' : settlement;
}

function changeEvent(
  type: EventType,
  { id, externalId }: queries.DeclaredPayment,
  terms: DeclaredTerms,
  reason: string | null,
): NewEvent {
  const { isCredit, amountCents, dateFrom, dateTo, metadata } = terms;
  return {
    type,
    resource: { kind: 'expected_payment', id },
    data: {
      ...{ expectedPaymentId: id, externalId, ...toCoding(terms), isCredit },
      expectedAmount: amountCents === null ? null : eventAmount(amountCents),
      ...{ dateFrom, dateTo, reason },
      ...(metadata ? { metadata } : {}),
    },
  };
}
