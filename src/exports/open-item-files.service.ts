// Opens files of what people must work through: open breaks, and overdue expected payments.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import type { PlainDate } from '../brazil/calendar.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { readSeveritySteps } from '../reconciliation/breaks/severity.queries.js';
import { breakKinds } from '../reconciliation/decide/break-kinds.js';
import { BankTime } from '../statement/bank-time.service.js';
import { csvFile } from './csv-file.js';
import type { exportOpenBreaks } from './exports.schema.js';
import { FileStreams, type OpenedFile } from './file-streams.service.js';
import { listOpenBreaks, listOverduePayments } from './open-items.queries.js';
import {
  openBreaksTable,
  overduePaymentsTable,
  type ExportedBreak,
  type OverduePayment,
} from './open-items-tables.js';
import type { Table } from './table.js';
import { xlsxFile } from './xlsx-file.js';

type TableQuery = RouteInput<typeof exportOpenBreaks>['query'];

const pageRows = 500;
const firstId = '00000000-0000-0000-0000-000000000000';

@Injectable()
export class OpenItemFiles {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
    private readonly streams: FileStreams,
  ) {}

  /** Throws `rate_limited` if the account has too many open files. */
  async openBreaks(accountId: number, query: TableQuery): Promise<OpenedFile> {
    const steps = await readSeveritySteps(this.database.prisma, accountId);
    return this.open(accountId, query, 'breaks', (today) => ({
      table: openBreaksTable(today, steps),
      pages: this.readBreaks(accountId),
    }));
  }

  /** Throws `rate_limited` if the account has too many open files. */
  async openOverduePayments(accountId: number, query: TableQuery): Promise<OpenedFile> {
    return this.open(accountId, query, 'overdue', (today) => ({
      table: overduePaymentsTable(today),
      pages: this.readOverduePayments(accountId, today),
    }));
  }

  private async open<Row>(
    accountId: number,
    { format, delimiter }: TableQuery,
    name: string,
    read: (today: PlainDate) => { table: Table<Row>; pages: AsyncIterable<Row[]> },
  ): Promise<OpenedFile> {
    return this.streams.open(accountId, async () => {
      const today = await this.bankTime.today(accountId);
      const { slug } = await this.accounts.get(accountId);
      const { table, pages } = read(today);
      const file = format === 'csv' ? csvFile(table, delimiter) : xlsxFile(table);
      return this.streams.stream(`concilia-${slug}-${name}-${today}`, file, pages);
    });
  }

  private async *readBreaks(accountId: number): AsyncGenerator<ExportedBreak[]> {
    for (const kind of Object.keys(breakKinds)) {
      let afterId = firstId;
      for (;;) {
        const page = { kind, afterId, limit: pageRows };
        const rows = await this.streams.read(() =>
          listOpenBreaks(this.database.prisma, accountId, page),
        );
        const last = rows.at(-1);
        if (!last) break;
        yield rows;
        afterId = last.id;
      }
    }
  }

  private async *readOverduePayments(
    accountId: number,
    today: PlainDate,
  ): AsyncGenerator<OverduePayment[]> {
    let after = { afterDay: '', afterId: firstId };
    for (;;) {
      const page = { today, ...after, limit: pageRows };
      const rows = await this.streams.read(() =>
        listOverduePayments(this.database.prisma, accountId, page),
      );
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = { afterDay: last.lastPaymentDay, afterId: last.id };
    }
  }
}
