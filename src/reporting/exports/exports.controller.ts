import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../../access/accounts/api-key.guard.js';
import { Handles, Reply, StreamedReply } from '../../platform/http/contract-route.js';
import { Responds } from '../../platform/http/responses.decorator.js';
import {
  exportOpenBreaks,
  exportOverduePayments,
  exportTransactions,
  getMonthReport,
} from './exports.schema.js';
import type { OpenedFile } from './file-streams.service.js';
import { MonthReports } from './month-reports.service.js';
import { OpenItemFiles } from './open-item-files.service.js';
import { TransactionFiles } from './transaction-files.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class ExportsController {
  constructor(
    private readonly files: TransactionFiles,
    private readonly openItems: OpenItemFiles,
    private readonly reports: MonthReports,
  ) {}

  @Responds({ status: 422, description: 'The file would have too many lines; see `code`.' })
  @Handles(exportTransactions)
  async transactions(
    @FromCaller() { query, ...caller }: CallerInput<typeof exportTransactions>,
  ): Promise<StreamedReply> {
    return replyWith(await this.files.open(caller, query));
  }

  @Handles(exportOpenBreaks)
  async breaks(
    @FromCaller() { query, ...caller }: CallerInput<typeof exportOpenBreaks>,
  ): Promise<StreamedReply> {
    return replyWith(await this.openItems.openBreaks(caller, query));
  }

  @Handles(exportOverduePayments)
  async overduePayments(
    @FromCaller() { query, ...caller }: CallerInput<typeof exportOverduePayments>,
  ): Promise<StreamedReply> {
    return replyWith(await this.openItems.openOverduePayments(caller, query));
  }

  @Handles(getMonthReport)
  async month(
    @FromCaller() { accountId, params }: CallerInput<typeof getMonthReport>,
  ): Promise<Reply> {
    return new Reply(200, await this.reports.page(accountId, params.month), {
      'content-type': 'text/html; charset=utf-8',
      // The page loads nothing: no script, no frame, no other resource.
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    });
  }
}

export function replyWith({ name, contentType, body }: OpenedFile): StreamedReply {
  return new StreamedReply(body, {
    'content-type': contentType,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
  });
}
