import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Dispute } from '../../generated/service/client.js';
import { Handles } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { getDisputeRoute, listDisputesRoute } from './disputes.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class DisputesController {
  constructor(private readonly database: Database) {}

  @Handles(listDisputesRoute)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listDisputesRoute>) {
    const page = readPage(query, isUuid);
    const rows = await this.database.prisma.dispute.findMany({
      where: { accountId, ...(page.after !== null && { id: { lt: page.after } }) },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeDispute);
  }

  @Handles(getDisputeRoute)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getDisputeRoute>) {
    const found = await this.database.prisma.dispute.findUnique({
      where: { accountId_id: { accountId, id: readUuid(params.id) } },
    });
    if (!found) throw new AppError('not_found');
    return describeDispute(found);
  }
}

function describeDispute({ amountCents: amount, ...dispute }: Dispute) {
  return { ...dispute, amount };
}
