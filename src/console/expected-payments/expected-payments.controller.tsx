// Payments that should appear on the statement: those of operations, and the declared ones.
import { Controller } from '@nestjs/common';
import { DeclaredPayments } from '../../statement/expected-payments/declared-payments.service.js';
import { declaredKind } from '../../statement/expected-payments/declared-terms.js';
import { ExpectedPaymentReading } from '../../reconciliation/api/expected-payment-reading.service.js';
import {
  expectedPaymentStates,
  listExpectedPayments,
} from '../../reconciliation/api/transactions.schema.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Filters } from '../kit/elements.js';
import { readFilters } from '../list-query.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, callerOf, pathId, isAllowedTo, pathTo } from '../visit.js';
import { PaymentDetail } from './payment-detail.js';
import { PaymentTable } from './payment-list.js';

const payments = '/console/accounts/:account/expected-payments';

@Controller()
export class ExpectedPaymentPages {
  constructor(
    private readonly reading: ExpectedPaymentReading,
    private readonly declared: DeclaredPayments,
    private readonly actors: ActorNames,
  ) {}

  @ConsolePage({
    path: payments,
    needs: 'view',
    menu: { title: 'expectedPayment.title', section: 'statement', place: 43 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t } = visit;
    const { filters, wrong } = readFilters(listExpectedPayments.query, visit.query);
    const { data, next } = await this.reading.list(callerOf(visit), filters);
    const states = expectedPaymentStates.map(
      (state) => [state, t(`paymentState.${state}`)] as const,
    );
    const body = (
      <>
        <p>{t('expectedPayment.intro')}</p>
        <p class="row">
          {isAllowedTo(visit, 'manage expected payments') && (
            <a class="button" href={pathTo(visit, 'expected-payments/new')}>
              {t('expectedPayment.new')}
            </a>
          )}
          <a href={pathTo(visit, 'expected-payments?state=overdue')}>
            {t('expectedPayment.onlyOverdue')}
          </a>
        </p>
        <Filters
          visit={visit}
          wrong={wrong}
          fields={[
            { name: 'state', label: 'expectedPayment.state', options: states },
            { name: 'reference', label: 'expectedPayment.anyReference', type: 'search' },
            { name: 'externalId', label: 'expectedPayment.externalId', type: 'search' },
            {
              name: 'metadata',
              label: 'expectedPayment.metadata',
              type: 'search',
              hint: 'expectedPayment.metadataFilterHint',
            },
          ]}
        />
        <PaymentTable visit={visit} payments={[...data]} next={next} />
      </>
    );
    return new Shown(t('expectedPayment.title'), body);
  }

  @ConsolePage({ path: `${payments}/:id`, needs: 'view' })
  async detail(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const { payment, lines } = await this.reading.get(callerOf(visit), id);
    const isVisible = isAllowedTo(visit, 'see personal data');
    const { id: accountId } = accountOf(visit);
    const declared =
      payment.kind === declaredKind ? await this.declared.get(accountId, id, { isVisible }) : null;
    const authors = declared?.history.map(({ actor }) => actor) ?? [];
    const nameOf = await this.actors.find(visit, authors);
    const title = visit.t('expectedPayment.one', { name: payment.externalId ?? id.slice(-12) });
    return new Shown(title, <PaymentDetail {...{ visit, payment, lines, declared, nameOf }} />);
  }
}
