import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../../accounts/api-key.guard.js';
import type { Caller } from '../../accounts/api-keys.service.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { addDays } from '../../brazil/calendar.js';
import type { RouteInput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { Handles, Input } from '../../platform/contract-route.js';
import { isNsu, isUuid, readPage, toList } from '../../platform/listing.js';
import { BankTime } from '../../statement/bank-time.service.js';
import { readStatementView } from '../../statement/statement-view.queries.js';
import {
  describeExpectedPayment,
  describeSummary,
  describeTransaction,
} from './transaction-views.js';
import * as queries from './transactions.queries.js';
import { getSummary, listExpectedPayments, listTransactionsOfBook } from './transactions.schema.js';
import { loadSummary } from './summary.queries.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class BookController {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
  ) {}

  @Handles(listTransactionsOfBook)
  async transactions(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listTransactionsOfBook>,
  ) {
    const page = readPage(query, isNsu);
    const { day, nsu = null, reference = null, state = null, isCredit = null } = query;
    const rows = await queries.listTransactionRows(this.database.prisma, accountId, {
      nsu,
      reference,
      state,
      isCredit,
      from: day ? statementDayStart(day) : null,
      until: day ? statementDayStart(addDays(day, 1)) : null,
      beforeNsu: page.after === null ? null : BigInt(page.after),
      limit: page.limit + 1,
    });
    return toList(rows, page, (row) => row.nsu.toString(), describeTransaction);
  }

  @Handles(listExpectedPayments)
  async expectedPayments(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listExpectedPayments>,
  ) {
    const page = readPage(query, isUuid);
    const { state = null, reference = null, operationId = null } = query;
    const rows = await queries.listExpectedPaymentRows(this.database.prisma, accountId, {
      state,
      reference,
      operationId,
      beforeId: page.after,
      today: await this.bankTime.today(accountId),
      limit: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeExpectedPayment);
  }

  @Handles(getSummary)
  async summary(@CalledBy() { accountId }: Caller) {
    const { prisma } = this.database;
    const today = await this.bankTime.today(accountId);
    const row = await loadSummary(prisma, accountId, today);
    return describeSummary(row, await readStatementView(prisma, accountId));
  }
}
