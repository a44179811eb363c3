// A transfer, a bill payment or a refund: money that we sent, or are about to send, with its story.
import { Controller } from '@nestjs/common';
import { BillPaymentViews } from '../../outbound/bill-payments/bill-payment-views.service.js';
import { shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { RefundViews } from '../../outbound/refunds/refund-views.service.js';
import { TransferViews } from '../../outbound/transfers/transfer-views.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatAmount } from '../formats.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { callerOf } from '../visit.js';
import { billCodes, drawingsOf } from './payment-codes.js';
import { PaymentStories } from './payment-stories.service.js';
import { CodesCard, recordId } from './record-page.js';
import { SentMoneyPage } from './sent-money-page.js';

@Controller()
export class SentMoneyPages {
  constructor(
    private readonly transfers: TransferViews,
    private readonly bills: BillPaymentViews,
    private readonly refunds: RefundViews,
    private readonly stories: PaymentStories,
  ) {}

  @ConsolePage({ path: '/console/accounts/:account/transfers/:id', needs: 'view' })
  async transfer(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const transfer = await this.transfers.get(accountId, recordId(visit));
    const { id, operationId, expectedPaymentId, endToEndId } = transfer;
    const story = await this.stories.compose(visit, {
      operationIds: [operationId],
      expectedPaymentIds: [expectedPaymentId],
      resources: resourcesOf('transfer', id, operationId),
      endToEndIds: [endToEndId],
    });
    return new Shown(
      visit.t('payment.transfer', { amount: formatAmount(transfer.amount) }),
      <SentMoneyPage
        visit={visit}
        record={{ ...transfer, list: 'transferState', operationId }}
        identifiers={[
          ['payment.id', id],
          ['payment.endToEndId', endToEndId],
          ['payment.externalId', transfer.externalId],
          ['payment.bankId', transfer.bankId],
        ]}
        counterparty={await this.stories.findExpectedParty(visit, expectedPaymentId)}
        story={story}
        response={shownResponse(transfer.response, scopes)}
      />,
    );
  }

  @ConsolePage({ path: '/console/accounts/:account/bills/:id', needs: 'view' })
  async bill(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const bill = await this.bills.get(accountId, recordId(visit));
    const { id, expectedPaymentId, barCode } = bill;
    const story = await this.stories.compose(visit, {
      operationIds: [id],
      expectedPaymentIds: [expectedPaymentId],
      resources: resourcesOf('bill_payment', id, id),
    });
    const codes = { ...billCodes(barCode), pixCode: null };
    return new Shown(
      visit.t('payment.bill', { amount: formatAmount(bill.amount) }),
      <SentMoneyPage
        visit={visit}
        record={{ ...bill, list: 'billState', operationId: id }}
        identifiers={[
          ['payment.id', id],
          ['payment.bankId', bill.bankId],
        ]}
        counterparty={await this.stories.findExpectedParty(visit, expectedPaymentId)}
        story={story}
        response={shownResponse(bill.response, scopes)}
      >
        <CodesCard
          visit={visit}
          title="payment.billCode"
          codes={codes}
          drawings={await drawingsOf(codes)}
        />
      </SentMoneyPage>,
    );
  }

  @ConsolePage({ path: '/console/accounts/:account/refunds/:id', needs: 'view' })
  async refund(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const refund = await this.refunds.get(accountId, recordId(visit));
    const { id, expectedPaymentId, endToEndId, originalNsu } = refund;
    const story = await this.stories.compose(visit, {
      operationIds: [id],
      expectedPaymentIds: [expectedPaymentId],
      resources: resourcesOf('refund', id, id),
      endToEndIds: [endToEndId],
      originalNsu,
    });
    const original = { label: 'payment.original', list: 'statement' } as const;
    return new Shown(
      visit.t('payment.refundOf', { amount: formatAmount(refund.amount) }),
      <SentMoneyPage
        visit={visit}
        record={{ ...refund, list: 'refundState', operationId: id }}
        identifiers={[
          ['payment.id', id],
          ['payment.endToEndId', endToEndId],
        ]}
        related={[{ ...original, id: originalNsu.toString() }]}
        counterparty={await this.stories.findPartyOfLine(visit, originalNsu)}
        story={story}
        response={shownResponse(refund.response, scopes)}
      />,
    );
  }
}

function resourcesOf(kind: string, id: string, operationId: string) {
  return [
    { kind, id },
    { kind: 'operation', id: operationId },
  ];
}
