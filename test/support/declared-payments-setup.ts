// Declares payments for the account of a test, as another system does by the API.
import { AppError } from '../../src/platform/errors.js';
import {
  amendPayment,
  declarePayment,
  toTerms,
} from '../../src/statement/expected-payments/declared-payments.schema.js';
import { DeclaredPayments } from '../../src/statement/expected-payments/declared-payments.service.js';
import { EventsService } from '../../src/events/events.service.js';
import { decodeRequest } from './decoded-request.js';
import type { ServiceDatabase } from './service-database.js';
import { recordedQueues } from './recorded-queues.js';

const queueOf = recordedQueues();

export class DeclaredPaymentsSetup {
  constructor(private readonly service: () => ServiceDatabase) {}

  readonly payments = () => {
    const { database } = this.service();
    return new DeclaredPayments(
      database,
      new EventsService(database, queueOf('deliverEvents')),
      queueOf('reconcile'),
    );
  };
  readonly author = (reason: string | null = null) => ({
    accountId: this.service().accountId,
    actor: 'key',
    reason,
  });

  /** A debit of R$ 100.00 on 10 June 2026, unless `change` says otherwise. Returns its id. */
  readonly declare = async (
    externalId: string,
    change: Record<string, unknown> = {},
  ): Promise<string> => {
    const body = decodeRequest(declarePayment.body, {
      ...{ externalId, direction: 'debit', dateFrom: '2026-06-08', dateTo: '2026-06-12' },
      ...('amountFrom' in change ? {} : { amount: 100 }),
      ...change,
    });
    const { id } = await this.payments().declare(this.author(), externalId, toTerms(body));
    return id;
  };

  /** Amounts in reais. */
  readonly amend = (id: string, change: Record<string, unknown>) => {
    const body = decodeRequest(amendPayment.body, { reason: 'corrected', ...change });
    return this.payments().amend(this.author('corrected'), id, body);
  };
  readonly cancel = (id: string) => this.payments().cancel(this.author('not due'), id);
  /** Whether it was cancelled. */
  readonly cancelUnlessPaid = (id: string) =>
    this.cancel(id).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.details.reason === 'expected_payment_paid')
          return false;
        throw error;
      },
    );
  readonly get = (id: string) =>
    this.payments().get(this.service().accountId, id, { isVisible: true });
}
