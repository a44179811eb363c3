import { Controller, UseGuards } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { findBarCode } from '../brazil/bill-code.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { BankService } from '../bank/bank.service.js';
import { getBill, payBill } from '../contract/bill-payments.js';
import { shownList, shownResponse } from '../counterparties/counterparty.schema.js';
import { Database } from '../database.service.js';
import type { BillPayment, Prisma } from '../generated/service/client.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { describeSentMoney, newestSentMoney, type SentMoney } from '../operations/sent-money.js';
import { Handles, type Reply } from '../platform/contract-route.js';
import { CallsBank } from '../platform/responses.decorator.js';
import { findByFirstId, isUuid, readPage, toList } from '../platform/listing.js';
import {
  getBillPaymentRoute,
  listBillPaymentsRoute,
  payBillWithMetadata,
} from './bill-payments.schema.js';
import { BillPaymentsService } from './bill-payments.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BillPaymentsController {
  constructor(
    private readonly payments: BillPaymentsService,
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
  ) {}

  @CallsBank()
  @Handles(getBill)
  async getBill(@FromCaller() request: CallerInput<typeof getBill>): Promise<Reply> {
    return this.bank.relay(getBill, await this.accounts.get(request.accountId), request);
  }

  @RequiresScope('pay')
  @BeginsOperation()
  @Handles(payBill, payBillWithMetadata)
  async pay(
    @FromCaller() request: CallerInput<typeof payBill>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.payments.pay(request.accountId, request, preferences);
  }

  /** Finds a payment by its operation's id, the bank's id, or the bill's code: the newest of it. */
  @Handles(getBillPaymentRoute)
  async get(@FromCaller() request: CallerInput<typeof getBillPaymentRoute>) {
    const { accountId, scopes } = request;
    const { id } = request.params;
    const barCode = findBarCode(id);
    const ids = [
      ...(isUuid(id) ? [{ id }] : []),
      { bankId: id },
      ...(barCode ? [{ barCode }] : []),
    ];
    const found = await findByFirstId(ids, (one) => this.read({ accountId, ...one }, 1));
    return shownResponse(describePayment(found), scopes);
  }

  @Handles(listBillPaymentsRoute)
  async list(@FromCaller() request: CallerInput<typeof listBillPaymentsRoute>) {
    const { accountId, query, scopes } = request;
    const page = readPage(query, isUuid);
    const { state, barCode } = query;
    const where = { accountId, state, barCode, id: { lt: page.after ?? undefined } };
    const rows = await this.read(where, page.limit + 1);
    return shownList(
      toList(rows, page, ({ id }) => id, describePayment),
      scopes,
    );
  }

  private async read(where: Prisma.BillPaymentWhereInput, take: number) {
    return this.database.prisma.billPayment.findMany(newestSentMoney(where, take));
  }
}

function describePayment<Row extends SentMoney & Pick<BillPayment, 'state'>>(payment: Row) {
  const view = describeSentMoney(payment);
  // The failure was proven by a statement that did not show the debit yet.
  const isPaid = payment.state === 'failed' && view.nsu !== null;
  return isPaid ? { ...view, state: 'paid' as const } : view;
}
