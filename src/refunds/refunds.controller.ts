import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import { refundTransaction } from '../contract/refunds.js';
import { shownList, shownResponse } from '../counterparties/counterparty.schema.js';
import { Database } from '../database.service.js';
import type { Prisma, Refund } from '../generated/service/client.js';
import { BeginsOperation } from '../operations/begins-operation.decorator.js';
import { CallerPreferences } from '../operations/caller-preferences.decorator.js';
import type { RequestPreferences } from '../operations/operation.js';
import { describeSentMoney, newestSentMoney, type SentMoney } from '../operations/sent-money.js';
import { Handles, type Reply } from '../platform/contract-route.js';
import { findByFirstId, isNsu, isUuid, readPage, toList } from '../platform/listing.js';
import { getRefundRoute, listRefundsRoute, refundWithMetadata } from './refunds.schema.js';
import { RefundsService } from './refunds.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RefundsController {
  constructor(
    private readonly refunds: RefundsService,
    private readonly database: Database,
  ) {}

  @RequiresScope('refund')
  @BeginsOperation()
  @Handles(refundTransaction, refundWithMetadata)
  async refund(
    @FromCaller() request: CallerInput<typeof refundTransaction>,
    @CallerPreferences() preferences: RequestPreferences,
  ): Promise<Reply> {
    return this.refunds.refund(request.accountId, request, preferences);
  }

  /** Finds a refund by its operation's id, the bank's id of the refund, or its nsu. */
  @Handles(getRefundRoute)
  async get(@FromCaller() request: CallerInput<typeof getRefundRoute>) {
    const { accountId, scopes } = request;
    const { id } = request.params;
    const filter = isUuid(id) ? { id } : isNsu(id) ? { nsu: BigInt(id) } : { endToEndId: id };
    const found = await findByFirstId([filter], (one) => this.read({ accountId, ...one }, 1));
    return shownResponse(describeRefund(found), scopes);
  }

  @Handles(listRefundsRoute)
  async list(@FromCaller() { accountId, query, scopes }: CallerInput<typeof listRefundsRoute>) {
    const page = readPage(query, isUuid);
    const { state, originalNsu } = query;
    const where = { accountId, state, originalNsu, id: { lt: page.after ?? undefined } };
    const rows = await this.read(where, page.limit + 1);
    return shownList(
      toList(rows, page, ({ id }) => id, describeRefund),
      scopes,
    );
  }

  private async read(where: Prisma.RefundWhereInput, take: number) {
    return this.database.prisma.refund.findMany(newestSentMoney(where, take));
  }
}

function describeRefund<Row extends SentMoney & Pick<Refund, 'nsu'>>(refund: Row) {
  // The bank's response has the nsu, also while the statement does not show the refund.
  return { ...describeSentMoney(refund), nsu: refund.nsu };
}
