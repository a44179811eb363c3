// Reads expected payments, those of operations and the declared ones, as their callers may see
// them.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  seesPersonalData,
  shownParty,
  shownResponse,
} from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import {
  listPayments,
  type ShownPayment,
} from '../../statement/expected-payments/declared-payments.queries.js';
import {
  impersonalReferenceKinds,
  referenceKinds,
} from '../../statement/expected-payments/references.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage, toList, type ListTotal } from '../../platform/http/listing.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import * as queries from './transactions.queries.js';
import type { expectedPaymentView, listExpectedPayments } from './transactions.schema.js';

type Query = RouteInput<typeof listExpectedPayments>['query'];
type Reader = Pick<Caller, 'accountId' | 'scopes'>;
export type ExpectedPaymentView = z.output<typeof expectedPaymentView>;

@Injectable()
export class ExpectedPaymentReading {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
  ) {}

  async total(reader: Reader, query: Query): Promise<ListTotal> {
    const filters = await this.filtersOf(reader, query);
    return queries.totalExpectedPayments(this.database.prisma, reader.accountId, filters);
  }

  /** One page. */
  async list(reader: Reader, query: Query) {
    const { accountId, scopes } = reader;
    const page = readPage(query, isUuid);
    const rows = await queries.listExpectedPaymentRows(this.database.prisma, accountId, {
      ...(await this.filtersOf(reader, query)),
      afterId: page.after,
      limit: page.limit + 1,
    });
    return toList(
      rows,
      page,
      ({ id }) => id,
      (row) => describePayment(row, scopes),
    );
  }

  private async filtersOf({ accountId, scopes }: Reader, query: Query) {
    const kinds = seesPersonalData(scopes) ? referenceKinds : impersonalReferenceKinds;
    return { ...query, kinds, today: await this.bankTime.today(accountId) };
  }

  /** One payment, with the newest 50 lines that account for it. Throws `not_found`. */
  async get(
    { accountId, scopes }: Reader,
    id: string,
  ): Promise<{ payment: ExpectedPaymentView; lines: ShownPayment[] }> {
    const { prisma } = this.database;
    const today = await this.bankTime.today(accountId);
    const filters = { id, afterId: null, today, limit: 1 };
    const [row] = await queries.listExpectedPaymentRows(prisma, accountId, filters);
    if (!row) throw new AppError('not_found');
    const lines = await listPayments(prisma, accountId, id);
    return { payment: describePayment(row, scopes), lines };
  }
}

function describePayment(
  { amountCents: amount, settledCents, returnedCents, ...row }: queries.ListedPayment,
  scopes: readonly string[],
): ExpectedPaymentView {
  return {
    ...row,
    references: shownResponse(row.references, scopes),
    amount,
    amountFrom: row.amountFromCents,
    amountTo: row.amountToCents,
    tolerance: row.toleranceCents,
    text: row.textPattern,
    counterparty: shownParty(
      { taxId: row.counterpartyDocument, name: row.counterpartyName },
      seesPersonalData(scopes),
    ),
    settledAmount: settledCents,
    returnedAmount: returnedCents,
  };
}
