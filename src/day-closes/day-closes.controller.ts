import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { parsePlainDate } from '../brazil/calendar.js';
import { Database } from '../database.service.js';
import type { DayClose } from '../generated/service/client.js';
import { Handles } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { readPage, toList } from '../platform/listing.js';
import { nameFigures, parseCents, readCertificate, type Certificate } from './certificate.js';
import { listCurrentCertificates } from './day-closes.queries.js';
import { getDayClose, listDayCloses } from './day-closes.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class DayClosesController {
  constructor(private readonly database: Database) {}

  @Handles(listDayCloses)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listDayCloses>) {
    const page = readPage(query, (key) => parsePlainDate(key) !== null);
    const rows = await listCurrentCertificates(this.database.prisma, accountId, {
      from: query.from ?? null,
      to: query.to ?? null,
      beforeDate: page.after,
      limit: page.limit + 1,
    });
    return toList(rows, page, ({ date }) => date, describeDayClose);
  }

  @Handles(getDayClose)
  async get(@FromCaller() { accountId, params: { date } }: CallerInput<typeof getDayClose>) {
    const rows = await this.database.prisma.dayClose.findMany({
      where: { accountId, date },
      orderBy: { revision: 'asc' },
    });
    const current = rows.at(-1);
    if (!current) throw new AppError('not_found');
    return { ...describeDayClose(current), revisions: rows };
  }
}

function describeDayClose(row: DayClose) {
  const certificate = readCertificate(row.certificate);
  const { matched, classified, inBreak, firstNsu, lastNsu } = certificate;
  return {
    ...row,
    ...nameFigures(row, (cents) => cents),
    counts: {
      lines: row.lineCount,
      matched: matched.count,
      classified: mapValues(classified, ({ count }) => count),
      inBreak: mapValues(inBreak, ({ count }) => count),
    },
    sums: {
      matched: toCents(matched),
      classified: mapValues(classified, toCents),
      inBreak: mapValues(inBreak, toCents),
    },
    reconcilingItems: certificate.reconcilingItems.map(({ nsu, amount, ...item }) => ({
      ...item,
      nsu: BigInt(nsu),
      amount: parseCents(amount),
    })),
    firstNsu: firstNsu === null ? null : BigInt(firstNsu),
    lastNsu: lastNsu === null ? null : BigInt(lastNsu),
  };
}

function toCents({ count, credits, debits }: Certificate['matched']) {
  return { count, credits: parseCents(credits), debits: parseCents(debits) };
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
