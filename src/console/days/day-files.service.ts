// The files that the pages of days offer: those of the API, and the exact text of a certificate.
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import type { RouteInput } from '../../bank-contract/route.js';
import type { exportTransactions } from '../../reporting/exports/exports.schema.js';
import type { OpenedFile } from '../../reporting/exports/file-streams.service.js';
import { MonthReports } from '../../reporting/exports/month-reports.service.js';
import { TransactionFiles } from '../../reporting/exports/transaction-files.service.js';

@Injectable()
export class DayFiles {
  constructor(
    private readonly files: TransactionFiles,
    private readonly reports: MonthReports,
  ) {}

  openStatement(
    caller: Caller,
    query: RouteInput<typeof exportTransactions>['query'],
  ): Promise<OpenedFile> {
    return this.files.open(caller, query);
  }

  /** The printable report of a month, `yyyy-mm`. */
  async openReport({ id, slug }: { id: number; slug: string }, month: string): Promise<OpenedFile> {
    const page = await this.reports.page(id, month);
    return {
      name: `concilia-${slug}-${month}.html`,
      contentType: 'text/html; charset=utf-8',
      body: Readable.from([page]),
    };
  }

  /** The text whose SHA-256 is the hash of the certificate. */
  openCertificate(slug: string, date: string, revision: number, text: string): OpenedFile {
    return {
      name: `concilia-${slug}-${date}-certificate-${revision}.json`,
      contentType: 'application/json; charset=utf-8',
      body: Readable.from([text]),
    };
  }
}
