// Reads certificates for the API and the console: the current ones of a list of days, one day with
// its revisions, and the outcomes that changed since a certificate.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { parsePlainDate } from '../../brazil/calendar.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { DayClose } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { readPage, toList } from '../../platform/http/listing.js';
import {
  nameFigures,
  parseCents,
  readCertificateSummary,
  type CertificateSummary,
} from './certificate.js';
import {
  findCurrentCertificate,
  listCurrentCertificates,
  listUnexplained,
} from './day-closes.queries.js';
import type { listDayCloses, listOutcomeChangesOfDay } from './day-closes.schema.js';
import { listOutcomeChanges } from './outcomes.queries.js';

/** The key of a change in its list: its sequence and nsu. */
const changeKey = /^\d{1,18} -?\d{1,18}$/;

@Injectable()
export class DayCloses {
  constructor(private readonly database: Database) {}

  /** The current certificate of each day, newest first. */
  async list(accountId: number, query: RouteInput<typeof listDayCloses>['query']) {
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

  /** How many lines of each day nothing explains at present, whatever its certificate states. */
  async countUnexplained(accountId: number, days: readonly string[]) {
    const [to, from] = [days[0], days.at(-1)];
    if (!from || !to) return new Map<string, bigint>();
    const rows = await listUnexplained(this.database.prisma, accountId, { from, to });
    return new Map(rows.map(({ day, lines }) => [day, lines]));
  }

  /** The certified outcomes that changed before the day's current certificate. `not_found`. */
  async listChanges(
    accountId: number,
    date: string,
    query: RouteInput<typeof listOutcomeChangesOfDay>['query'],
  ) {
    const { prisma } = this.database;
    const page = readPage(query, (key) => changeKey.test(key));
    const current = await findCurrentCertificate(prisma, accountId, date);
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

  /** The day with all its revisions. Throws `not_found` for a day without a certificate. */
  async get(accountId: number, date: string) {
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
