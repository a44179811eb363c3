// Opens files of what people must work through: open breaks, and overdue expected payments.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { PlainDate } from '../../brazil/calendar.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  counterpartyIn,
  findCounterparties,
  findExpectedCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
} from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { readSeveritySteps } from '../../reconciliation/breaks/severity.queries.js';
import { breakKinds } from '../../reconciliation/decide/break-kind-declarations.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { csvFile } from './csv-file.js';
import type { exportOpenBreaks } from './exports.schema.js';
import { FileStreams, type FileCaller, type OpenedFile } from './file-streams.service.js';
import { listOpenBreaks, listOverduePayments, type BreakRowOfFile } from './open-items.queries.js';
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
  async openBreaks(caller: FileCaller, query: TableQuery): Promise<OpenedFile> {
    const steps = await readSeveritySteps(this.database.prisma, caller.accountId);
    return this.open(caller, query, 'breaks', (today) => ({
      table: openBreaksTable(today, steps),
      pages: this.breaks(caller),
    }));
  }

  /** Throws `rate_limited` if the account has too many open files. */
  async openOverduePayments(caller: FileCaller, query: TableQuery): Promise<OpenedFile> {
    return this.open(caller, query, 'overdue', (today) => ({
      table: overduePaymentsTable(today),
      pages: this.overduePayments(caller, today),
    }));
  }

  private async open<Row>(
    { accountId }: FileCaller,
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

  /** The open breaks, kind by kind. */
  async *breaks({ accountId, scopes }: FileCaller): AsyncGenerator<ExportedBreak[]> {
    const isVisible = seesPersonalData(scopes);
    for (const kind of Object.keys(breakKinds)) {
      let afterId = firstId;
      for (;;) {
        const page = { kind, afterId, limit: pageRows };
        const rows = await this.streams.read(() =>
          listOpenBreaks(this.database.prisma, accountId, page),
        );
        const last = rows.at(-1);
        if (!last) break;
        const named = await this.namedBreaks(accountId, rows, isVisible);
        // Banks write the payer's name and message into the notes.
        yield isVisible ? named : named.map((row) => ({ ...row, notes: null }));
        afterId = last.id;
      }
    }
  }

  /** The payments that are overdue on a day, the oldest first. */
  async *overduePayments(
    { accountId, scopes }: FileCaller,
    today: PlainDate,
  ): AsyncGenerator<OverduePayment[]> {
    const isVisible = seesPersonalData(scopes);
    let after = { afterDay: '', afterId: firstId };
    for (;;) {
      const page = { today, ...after, limit: pageRows };
      const rows = await this.streams.read(() =>
        listOverduePayments(this.database.prisma, accountId, page),
      );
      const last = rows.at(-1);
      if (!last) return;
      const found = await this.streams.read(() =>
        findExpectedCounterparties(
          this.database.prisma,
          accountId,
          rows.map(({ id }) => id),
        ),
      );
      yield rows.map((row) => ({
        ...row,
        counterparty: shownCounterparty(counterpartyIn(found, row.id), isVisible),
      }));
      after = { afterDay: last.lastPaymentDay, afterId: last.id };
    }
  }

  private async namedBreaks(
    accountId: number,
    rows: readonly BreakRowOfFile[],
    isVisible: boolean,
  ): Promise<ExportedBreak[]> {
    const { prisma } = this.database;
    const nsus = rows.flatMap(({ nsu }) => nsu ?? []);
    const ids = rows.flatMap((row) => (row.nsu === null ? (row.expectedPaymentId ?? []) : []));
    const ofLines = await this.streams.read(() => findCounterparties(prisma, accountId, nsus));
    const ofExpected = await this.streams.read(() =>
      findExpectedCounterparties(prisma, accountId, ids),
    );
    return rows.map((row) => {
      const counterparty =
        row.nsu === null
          ? counterpartyIn(ofExpected, row.expectedPaymentId ?? '')
          : counterpartyIn(ofLines, row.nsu);
      return { ...row, counterparty: shownCounterparty(counterparty, isVisible) };
    });
  }
}
