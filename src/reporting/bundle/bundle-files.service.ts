// The files of a bundle, declared once: what each is called, what it is, and its bytes.
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { addDays } from '../../brazil/calendar.js';
import { Database } from '../../platform/postgres/database.service.js';
import { calimaFile } from '../journal/calima-file.js';
import { journalTable } from '../journal/journal-table.js';
import { Journals } from '../journal/journals.service.js';
import { csvFile } from '../exports/csv-file.js';
import type { ExportFile } from '../exports/exported-line.js';
import { FileStreams, type FileCaller } from '../exports/file-streams.service.js';
import { daysOfMonth } from '../exports/month-days.js';
import { monthPage } from '../exports/month-page.js';
import type { ReadMonth } from '../exports/month-reports.service.js';
import { OpenItemFiles } from '../exports/open-item-files.service.js';
import type { Table } from '../exports/table.js';
import { TransactionFiles } from '../exports/transaction-files.service.js';
import { maxSheetRows, xlsxFile } from '../exports/xlsx-file.js';
import { BreakStories } from './break-stories.service.js';
import {
  accountantsStatement,
  breakStoriesTable,
  dayOfItem,
  openItemsTable,
  type OpenItem,
} from './bundle-tables.js';
import { monthPdf } from './month-pdf.js';
import type { FileSums } from './readme-text.js';

export interface BundleFile {
  /** Without the month. */
  name: string;
  extension: string;
  about: string;
  /** `sums` is complete once the bytes were read; null for what is no table. */
  open(): { bytes: AsyncIterable<Buffer>; sums: FileSums | null };
}

/** It has no types of its own. */
interface PdfMaker {
  setFonts(fonts: object): void;
  setUrlAccessPolicy(isAllowed: () => boolean): void;
  setLocalAccessPolicy(isAllowed: (path: string) => boolean): void;
  createPdf(document: object): { getBuffer(): Promise<Buffer> };
}
const packageOf = createRequire(import.meta.url);

@Injectable()
export class BundleFiles {
  constructor(
    private readonly database: Database,
    private readonly streams: FileStreams,
    private readonly statement: TransactionFiles,
    private readonly openItems: OpenItemFiles,
    private readonly stories: BreakStories,
    private readonly journals: Journals,
  ) {}

  of(caller: FileCaller, month: ReadMonth): BundleFile[] {
    const { figures, window, extent } = month;
    const lines = () => this.statement.lines(caller, window, extent);
    const postings = () => this.journals.rows(caller.accountId, figures.month);
    const statement = { name: 'extrato', table: accountantsStatement, rows: lines };
    return [
      this.csv({ ...statement, about: 'Extrato do mês, para o Excel' }),
      ...(extent.count > BigInt(maxSheetRows)
        ? []
        : [this.table({ ...statement, about: 'O mesmo extrato, em planilha' }, xlsxFile)]),
      this.csv({
        name: 'itens-em-aberto',
        about: 'Divergências abertas e pagamentos vencidos até o fim do mês, por idade',
        table: openItemsTable(figures.today),
        rows: () => this.readOpenItems(caller, month),
      }),
      this.csv({
        name: 'divergencias',
        about: 'Divergências do mês, abertas e resolvidas, com o seu histórico',
        table: breakStoriesTable,
        rows: () => this.stories.read(caller, month),
      }),
      this.csv({
        name: 'lancamentos-contabeis',
        about: 'Partidas do plano de contas; vazio sem plano de contas',
        table: journalTable,
        rows: postings,
      }),
      this.table(
        {
          name: 'lancamentos-calima',
          about: 'As mesmas partidas, para importar no Calima',
          table: journalTable,
          rows: postings,
        },
        () => calimaFile,
      ),
      {
        ...{ name: 'certificados', extension: 'json' },
        about:
          'Certificados dos dias, como foram calculados: o SHA-256 de cada um está no fechamento',
        open: () => ({ bytes: this.readCertificates(caller.accountId, figures.month), sums: null }),
      },
      {
        ...{
          name: 'fechamento',
          extension: 'html',
          about: 'Relatório do mês, para ler e imprimir',
        },
        open: () => ({ bytes: Readable.from([Buffer.from(monthPage(figures))]), sums: null }),
      },
      {
        ...{ name: 'fechamento', extension: 'pdf', about: 'O mesmo relatório, em PDF' },
        open: () => ({ bytes: pdfOf(monthPdf(figures)), sums: null }),
      },
    ];
  }

  private csv<Row>(declared: TableFile<Row>): BundleFile {
    return this.table(declared, (table) => csvFile(table, 'people'));
  }

  private table<Row>(
    { name, about, table, rows }: TableFile<Row>,
    fileOf: (table: Table<Row>) => ExportFile<Row>,
  ): BundleFile {
    const file = fileOf(table);
    return {
      ...{ name, about, extension: file.extension },
      open: () => {
        const isDoubleEntry = name.startsWith('lancamentos-');
        const sums: FileSums = { rows: 0n, creditCents: 0n, debitCents: 0n, isDoubleEntry };
        return { bytes: this.streams.bytes(file, counted(rows(), table, sums)), sums };
      },
    };
  }

  private async *readOpenItems(
    caller: FileCaller,
    { figures, lastDay }: ReadMonth,
  ): AsyncGenerator<OpenItem[]> {
    for await (const rows of this.openItems.breaks(caller))
      yield rows.filter((item) => dayOfItem(item) <= lastDay);
    const end = addDays(lastDay, 1);
    const overdueOn = figures.today < end ? figures.today : end;
    for await (const rows of this.openItems.overduePayments(caller, overdueOn)) {
      const where = { accountId: caller.accountId, state: 'open' } as const;
      const broken = await this.database.prisma.break.findMany({
        where: { ...where, expectedPaymentId: { in: rows.map(({ id }) => id) } },
        select: { expectedPaymentId: true },
      });
      const ids = new Set(broken.map(({ expectedPaymentId }) => expectedPaymentId));
      yield rows.filter(({ id }) => !ids.has(id)).map((row) => ({ ...row, notes: null }));
    }
  }

  /** The exact texts, one after another. */
  private async *readCertificates(accountId: number, month: string): AsyncGenerator<Buffer> {
    let before = '[\n';
    for (const date of daysOfMonth(month)) {
      const rows = await this.streams.read(() =>
        this.database.prisma.dayClose.findMany({
          where: { accountId, date },
          orderBy: { revision: 'asc' },
          select: { certificate: true },
        }),
      );
      for (const { certificate } of rows) {
        yield Buffer.from(`${before}${certificate}`);
        before = ',\n';
      }
    }
    yield Buffer.from(before === '[\n' ? '[]\n' : '\n]\n');
  }
}

interface TableFile<Row> {
  name: string;
  about: string;
  table: Table<Row>;
  rows: () => AsyncIterable<Row[]>;
}

/** Adds up the rows and their amounts while they are read. */
async function* counted<Row>(
  chunks: AsyncIterable<Row[]>,
  { columns }: Table<Row>,
  sums: FileSums,
): AsyncGenerator<Row[]> {
  const amount = columns.find(({ name }) => name === 'amount');
  for await (const rows of chunks) {
    for (const row of rows) {
      const cents = (amount?.kind === 'money' ? amount.value(row) : null) ?? 0n;
      sums.rows += 1n;
      if (cents > 0n) sums.creditCents += cents;
      else sums.debitCents -= cents;
    }
    yield rows;
  }
}

/** The font is embedded: the fonts that PDF readers have lack characters of names. */
async function* pdfOf(document: object): AsyncGenerator<Buffer> {
  const pdfmake = packageOf('pdfmake') as PdfMaker;
  const fonts = packageOf('pdfmake/fonts/Roboto.js') as Record<string, Record<string, string>>;
  const files = new Set(Object.values(fonts['Roboto'] ?? {}));
  pdfmake.setFonts(fonts);
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => files.has(path));
  yield await pdfmake.createPdf(document).getBuffer();
}
