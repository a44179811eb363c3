import { Controller, UseGuards } from '@nestjs/common';
import {
  ApiKeyGuard,
  CalledBy,
  FromCaller,
  type CallerInput,
} from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { seesPersonalData, shownCounterparty } from '../../counterparties/counterparty.schema.js';
import { counterpartyIn, findCounterparties } from '../../counterparties/counterparties.queries.js';
import type { RouteOutput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { metadataTooCommon } from '../../expected-payments/metadata.queries.js';
import { Handles } from '../../platform/contract-route.js';
import { Responds } from '../../platform/responses.decorator.js';
import { isNsu, readPage, toList } from '../../platform/listing.js';
import { BankTime } from '../../statement/bank-time.service.js';
import { readStatementView } from '../../statement/statement-view.queries.js';
import { ExpectedPaymentReading } from './expected-payment-reading.service.js';
import * as queries from './transactions.queries.js';
import { getSummary, listExpectedPayments, listTransactionsOfBook } from './transactions.schema.js';
import { loadSummary } from './summary.queries.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BookController {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly payments: ExpectedPaymentReading,
  ) {}

  @Responds(metadataTooCommon)
  @Handles(listTransactionsOfBook)
  async transactions(
    @FromCaller() { accountId, query, scopes }: CallerInput<typeof listTransactionsOfBook>,
  ) {
    const page = readPage(query, isNsu);
    const { prisma } = this.database;
    const beforeNsu = page.after === null ? null : BigInt(page.after);
    const filters = { ...query, beforeNsu, limit: page.limit + 1 };
    const found = await queries.listTransactionRows(prisma, accountId, filters);
    const nsus = found.rows.map(({ nsu }) => nsu);
    const counterparties = await findCounterparties(prisma, accountId, nsus);
    const isVisible = seesPersonalData(scopes);
    return toList(
      { rows: found.rows, lastExamined: found.lastExamined?.toString() ?? null },
      page,
      (row) => row.nsu.toString(),
      (row) => ({
        ...row,
        amount: row.amountCents,
        // Banks write the payer's name and message into the notes.
        notes: isVisible ? row.notes : null,
        counterparty: shownCounterparty(counterpartyIn(counterparties, row.nsu), isVisible),
        type: { name: row.typeName, isCredit: row.isCredit },
        balance: {
          balancePrevious: row.balancePreviousCents,
          currentBalance: row.currentBalanceCents,
        },
        explanation: row,
      }),
    );
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
