// Payments that should appear on the statement: those of operations, and the declared ones.
import { Controller } from '@nestjs/common';
import { DeclaredPayments } from '../../statement/expected-payments/declared-payments.service.js';
import { declaredKind } from '../../statement/expected-payments/declared-terms.js';
import { ExpectedPaymentReading } from '../../reconciliation/api/expected-payment-reading.service.js';
import type { ExpectedPaymentView } from '../../reconciliation/api/expected-payment-reading.service.js';
import {
  expectedPaymentStates,
  listExpectedPayments,
} from '../../reconciliation/api/transactions.schema.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { writeTaxId } from '../formats.js';
import { ButtonLink, Row } from '../kit/elements.js';
import { listPage } from '../kit/list-page.js';
import { Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, useVisit, type Visit } from '../visit.js';
import {
  amountText,
  dueText,
  PaymentDetail,
  paymentKindText,
  PaymentState,
} from './payment-detail.js';

@Controller()
export class ExpectedPaymentPages {
  constructor(
    private readonly reading: ExpectedPaymentReading,
    private readonly declared: DeclaredPayments,
    private readonly actors: ActorNames,
  ) {}

  @ConsolePage('expected-payments', 'view', {
    title: 'search.expected-payments',
    section: 'statement',
    place: 43,
  })
  list(@Visiting() visit: Visit): PageAnswer {
    return listPage({
      visit,
      title: 'search.expected-payments',
      empty: 'expectedPayment.none',
      before: <Intro />,
      query: listExpectedPayments.query,
      filters: {
        state: {
          label: 'word.status',
          options: expectedPaymentStates,
          of: 'paymentState',
        },
        reference: { label: 'expectedPayment.anyReference', isMore: true },
        externalId: { label: 'list.ownId', isMore: true },
        metadata: {
          label: 'word.metadata',
          hint: 'expectedPayment.metadataFilterHint',
          isMore: true,
        },
      },
      read: (_page, query) => this.reading.list(callerOf(visit), query),
      total: (filters) => this.reading.total(callerOf(visit), filters),
      columns: (_rows) => ({
        'expectedPayment.due': (payment) => dueText(visit, payment),
        'word.counterparty': {
          isLead: true,
          href: ({ id }) => visit.to(`expected-payments/${id}`),
          wide: ({ counterparty: { name, taxId }, ...payment }) =>
            name ?? writeTaxId(taxId) ?? nameOf(payment),
          below: {
            label: 'list.taxId',
            // The page shows the own id beside it; the file has a column of it.
            cell: ({ counterparty: { name, taxId }, ...payment }) =>
              [
                name !== null && writeTaxId(taxId),
                !visit.query.has('file') && (name ?? taxId) !== null && nameOf(payment),
              ]
                .filter(Boolean)
                .join(' · '),
          },
        },
        'word.kind': { wide: (payment) => paymentKindText(visit, payment) },
        'word.payment': { isOnly: 'file', cell: nameOf },
        'list.createdAt': { isDetail: true, at: ({ createdAt }) => createdAt, isOrder: true },
        'expectedPayment.settled': {
          isDetail: true,
          cents: ({ settledAmount }) => settledAmount || null,
        },
        'word.amount': { is: 'number', cell: (payment) => amountText(visit, payment) },
        'word.status': ({ state }) => <PaymentState state={state} />,
      }),
    });
  }

  @ConsolePage('expected-payments/:id', 'view')
  async detail(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const { payment, lines } = await this.reading.get(callerOf(visit), id);
    const isVisible = visit.may('see personal data');
    const { accountId } = visit;
    const declared =
      payment.kind === declaredKind ? await this.declared.get(accountId, id, { isVisible }) : null;
    const authors = declared?.history.map(({ actor }) => actor) ?? [];
    const nameOf = await this.actors.find(visit, authors);
    const title = visit.t('expectedPayment.one', { name: payment.externalId ?? id.slice(-12) });
    return new Shown(title, <PaymentDetail {...{ payment, lines, declared, nameOf }} />);
  }
}

type Named = Pick<ExpectedPaymentView, 'externalId' | 'references' | 'id'>;

const nameOf = ({ externalId, references, id }: Named) =>
  externalId ?? references[0]?.value ?? id.slice(-12);

function Intro() {
  const { t, to, may } = useVisit();
  return (
    <>
      <p>{t('expectedPayment.intro')}</p>
      <Row is="top">
        {may('manage expected payments') && (
          <ButtonLink href={to('expected-payments/new')}>{t('expectedPayment.new')}</ButtonLink>
        )}
        <a href={to('expected-payments?state=overdue')}>{t('expectedPayment.onlyOverdue')}</a>
      </Row>
    </>
  );
}
