import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../accounts/api-key.guard.js';
import { parsePlainDate } from '../brazil/calendar.js';
import { Database } from '../database.service.js';
import type { DayClose } from '../generated/service/client.js';
import { Handles } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { readPage, toList } from '../platform/listing.js';
import {
  nameFigures,
  parseCents,
  readCertificateSummary,
  type CertificateSummary,
} from './certificate.js';
import { findCurrentCertificate, listCurrentCertificates } from './day-closes.queries.js';
import { getDayClose, listDayCloses, listOutcomeChangesOfDay } from './day-closes.schema.js';
import { listOutcomeChanges } from './outcomes.queries.js';

/** The key of a change in its list: its sequence and nsu. */
const changeKey = /^\d{1,18} -?\d{1,18}$/;

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
    return toList(
      rows,
      page,
      ({ date }) => date,
      ({ summary, ...row }) => describeDayClose(row, readCertificateSummary(summary)),
    );
  }

  @Handles(listOutcomeChangesOfDay)
  async listChanges(
    @FromCaller() { accountId, params, query }: CallerInput<typeof listOutcomeChangesOfDay>,
  ) {
    const { prisma } = this.database;
    const page = readPage(query, (key) => changeKey.test(key));
    const current = await findCurrentCertificate(prisma, accountId, params.date);
    if (!current) throw new AppError('not_found');
    const { sequence } = current;
    const before = await prisma.dayClose.findFirst({
      where: { accountId, sequence: sequence - 1 },
      select: { outcomeSequence: true },
    });
    const [changedAt = '', nsu = ''] = page.after?.split(' ') ?? [];
    const rows = before
      ? await listOutcomeChanges(
          prisma,
          {
            ...{ accountId, certificate: sequence },
            ...{ afterSequence: before.outcomeSequence, untilSequence: current.outcomeSequence },
          },
          page.after === null ? null : { changedAt: BigInt(changedAt), nsu: BigInt(nsu) },
          page.limit + 1,
        )
      : [];
    return toList(
      rows,
      page,
      (row) => `${row.changedAt} ${row.nsu}`,
      ({ nsu: line, formerLeaf, leaf }) => ({ nsu: line, formerLeaf, leaf }),
    );
  }

  @Handles(getDayClose)
  async get(@FromCaller() { accountId, params: { date } }: CallerInput<typeof getDayClose>) {
    const rows = await this.database.prisma.dayClose.findMany({
      where: { accountId, date },
      orderBy: { revision: 'asc' },
    });
    const current = rows.at(-1);
    if (!current) throw new AppError('not_found');
    return {
      ...describeDayClose(current, readCertificateSummary(current.certificate)),
      revisions: rows,
    };
  }
}

function describeDayClose(row: Omit<DayClose, 'certificate'>, summary: CertificateSummary) {
  const { matched, classified, inBreak, firstNsu, lastNsu, reconcilingItems } = summary;
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
    reconcilingItems: reconcilingItems.map(({ nsu, amount, ...item }) => ({
      ...item,
      nsu: BigInt(nsu),
      amount: parseCents(amount),
    })),
    firstNsu: firstNsu === null ? null : BigInt(firstNsu),
    lastNsu: lastNsu === null ? null : BigInt(lastNsu),
  };
}

function toCents({ count, credits, debits }: CertificateSummary['matched']) {
  return { count, credits: parseCents(credits), debits: parseCents(debits) };
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
