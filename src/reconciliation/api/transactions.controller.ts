import { Controller, UseGuards } from '@nestjs/common';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { seesPersonalData, shownParty } from '../../counterparties/counterparty.schema.js';
import type { RouteOutput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { metadataTooCommon } from '../../expected-payments/metadata.queries.js';
import { Handles } from '../../platform/contract-route.js';
import { Responds } from '../../platform/responses.decorator.js';
import { isUuid, readPage, toList } from '../../platform/listing.js';
import { BankTime } from '../../statement/bank-time.service.js';
import { readStatementView } from '../../statement/statement-view.queries.js';
import { TransactionViews } from './transaction-views.service.js';
import * as queries from './transactions.queries.js';
import { getSummary, listExpectedPayments, listTransactionsOfBook } from './transactions.schema.js';
import { loadSummary } from './summary.queries.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BookController {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly views: TransactionViews,
  ) {}

  @Responds(metadataTooCommon)
  @Handles(listTransactionsOfBook)
  transactions(@FromCaller() request: CallerInput<typeof listTransactionsOfBook>) {
    return this.views.list(request, request.query);
  }

  @Handles(listExpectedPayments)
  async expectedPayments(
    @FromCaller() { accountId, query, scopes }: CallerInput<typeof listExpectedPayments>,
  ) {
    const page = readPage(query, isUuid);
    const rows = await queries.listExpectedPaymentRows(this.database.prisma, accountId, {
      ...query,
      beforeId: page.after,
      today: await this.bankTime.today(accountId),
      limit: page.limit + 1,
    });
    const isVisible = seesPersonalData(scopes);
    return toList(
      rows,
      page,
      ({ id }) => id,
      ({ amountCents: amount, settledCents, returnedCents, ...row }) => ({
        ...row,
        amount,
        amountFrom: row.amountFromCents,
        amountTo: row.amountToCents,
        tolerance: row.toleranceCents,
        text: row.textPattern,
        counterparty: shownParty(
          { taxId: row.counterpartyDocument, name: row.counterpartyName },
          isVisible,
        ),
        settledAmount: settledCents,
        returnedAmount: returnedCents,
      }),
    );
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
        liveBalance: liveBalance && { ...liveBalance, amount: liveBalance.amountCents },
      },
      transactions: { ...row, pending: row.total - row.matched - row.classified - row.inBreak },
      expectedPayments: row,
      operations: row,
      breaks: { open: row.openBreaks },
      webhooks: {
        received: row.webhooksReceived,
        pending: row.webhooksPending,
        quarantined: row.webhooksQuarantined,
      },
      deliveries: { pending: row.deliveriesPending, dead: row.deliveriesDead },
    };
  }
}
