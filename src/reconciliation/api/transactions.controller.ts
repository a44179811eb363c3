import { Controller, UseGuards } from '@nestjs/common';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../access/accounts/api-key.guard.js';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { metadataTooCommon } from '../../statement/expected-payments/metadata.queries.js';
import { Handles } from '../../platform/http/contract-route.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { readStatementView } from '../../statement/lines/statement-view.queries.js';
import { ExpectedPaymentReading } from './expected-payment-reading.service.js';
import { TransactionViews } from './transaction-views.service.js';
import { getSummary, listExpectedPayments, listTransactionsOfBook } from './transactions.schema.js';
import { loadSummary } from './summary.queries.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BookController {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly payments: ExpectedPaymentReading,
    private readonly views: TransactionViews,
  ) {}

  @Responds(metadataTooCommon)
  @Handles(listTransactionsOfBook)
  transactions(@FromCaller() request: CallerInput<typeof listTransactionsOfBook>) {
    return this.views.list(request, request.query);
  }

  @Handles(listExpectedPayments)
  expectedPayments(@FromCaller() request: CallerInput<typeof listExpectedPayments>) {
    return this.payments.list(request, request.query);
  }

  @Handles(getSummary)
  async summary(@CalledBy() { accountId }: Caller): Promise<RouteOutput<typeof getSummary>> {
    const { prisma } = this.database;
    const today = await this.bankTime.today(accountId);
    const row = await loadSummary(prisma, accountId, today);
    const { liveBalance, ...statement } = await readStatementView(prisma, accountId);
    // Each part of the response takes its own fields of the row.
    return {
      account: { mode: row.mode, since: row.modeSince, reason: row.modeReason },
      statement: {
        ...row,
        balance: row.balanceCents,
        ...statement,
        liveBalance: liveBalance && {
          ...{ ...liveBalance, amount: liveBalance.amountCents },
          blocked: liveBalance.blockedCents,
        },
      },
      transactions: { ...row, pending: row.total - row.matched - row.classified - row.inBreak },
      expectedPayments: row,
      operations: row,
      breaks: { open: row.openBreaks },
      webhooks: {
        received: row.webhooksReceived,
        pending: row.webhooksPending,
        quarantined: row.webhooksQuarantined,
        registrationFailure: row.registrationFailure,
        refusedEventTypes: row.refusedEventTypes ?? [],
      },
      deliveries: { pending: row.deliveriesPending, dead: row.deliveriesDead },
    };
  }
}
