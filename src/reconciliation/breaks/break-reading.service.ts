// Reads breaks: with age and severity by the bank's day, history, and candidates computed on
// request.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { daysBetween } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { RouteInput } from '../../contract/route.js';
import { Database } from '../../database.service.js';
import { owedCentsWhenPaid } from '../../expected-payments/settlement.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage, toList } from '../../platform/listing.js';
import { BankTime } from '../../statement/bank-time.service.js';
import * as candidates from './break-candidates.queries.js';
import * as queries from './break-reading.queries.js';
import type { breakDetail, breakView, listBreaks } from './breaks.schema.js';
import { idsIn, rankCandidates } from './candidate-ranking.js';
import { ageCutoffs, severityOf } from './severity.js';
import { subjectOfExpected, subjectOfLine } from '../decide/outcome.js';

type Detail = z.output<typeof breakDetail>;

@Injectable()
export class BreakReading {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
  ) {}

  async list(accountId: number, query: RouteInput<typeof listBreaks>['query']) {
    const page = readPage(query, isUuid);
    const today = await this.bankTime.today(accountId);
    const { state, kind, nsu, expectedPaymentId, minAmount, openedFrom, openedTo } = query;
    const rows = await queries.listBreakRows(this.database.prisma, accountId, {
      state: state ?? null,
      kind: kind ?? null,
      nsu: nsu ?? null,
      expectedPaymentId: expectedPaymentId ?? null,
      minCents: minAmount ?? null,
      openedFrom: openedFrom ?? null,
      openedTo: openedTo ?? null,
      severity: query.severity ?? null,
      cutoffs: ageCutoffs(today),
      beforeId: page.after,
      limit: page.limit + 1,
    });
    return toList(
      rows,
      page,
      ({ id }) => id,
      (row) => describeBreak(row, today),
    );
  }

  /** Throws `not_found`, also for a break of another account. */
  async get(accountId: number, id: string): Promise<Detail> {
    const { prisma } = this.database;
    const row = isUuid(id) ? await queries.findBreakRow(prisma, accountId, id) : null;
    if (!row) throw new AppError('not_found');
    const entries = await prisma.breakHistoryEntry.findMany({
      where: { accountId, breakId: id },
      orderBy: { sequence: 'asc' },
    });
    return {
      ...describeBreak(row, await this.bankTime.today(accountId)),
      history: entries.map(({ action, actor, reason, detail, createdAt }) => ({
        ...{ action, actor, reason, detail },
        at: createdAt.toISOString(),
      })),
      candidates: row.state === 'open' ? await this.candidatesOf(accountId, row) : [],
    };
  }

  private async candidatesOf(
    accountId: number,
    { nsu, expectedPaymentId, subject }: queries.BreakRow,
  ): Promise<Detail['candidates']> {
    if (nsu !== null && subject === subjectOfLine(nsu))
      return this.candidatesOfLine(accountId, nsu);
    if (expectedPaymentId !== null && subject === subjectOfExpected(expectedPaymentId))
      return this.candidatesOfExpected(accountId, expectedPaymentId);
    return [];
  }

  private async candidatesOfLine(accountId: number, nsu: bigint): Promise<Detail['candidates']> {
    const { prisma } = this.database;
    const where = { accountId_nsu: { accountId, nsu } };
    const line = await prisma.statementLine.findUnique({ where });
    if (!line) return [];
    const { amountCents: wantedCents, notes, correlationId, externalId, occurredAt } = line;
    const ids = [...idsIn([notes]), ...[correlationId, externalId].filter((id) => id !== null)];
    const paidDay = saoPauloDay(occurredAt);
    const rows = await candidates.listSimilarExpectedPayments(prisma, accountId, line, ids);
    return describe(
      rows.map((row) => ({
        ...row,
        // The amount owed for a slip depends on the day on which it was paid.
        amountCents:
          row.terms === null ? row.amountCents : owedCentsWhenPaid(row, wantedCents, paidDay),
        wantedCents,
        days: [paidDay, row.day] as const,
      })),
    );
  }

  private async candidatesOfExpected(accountId: number, id: string): Promise<Detail['candidates']> {
    const { prisma } = this.database;
    const expected = await candidates.findExpectedPaymentOfBreak(prisma, accountId, id);
    if (!expected) return [];
    const { amountCents, paidCents, isMultiUse, day } = expected;
    const wantedCents = amountCents === null || isMultiUse ? amountCents : amountCents - paidCents;
    const rows = await candidates.listSimilarLines(prisma, accountId, expected, wantedCents);
    return describe(rows.map((row) => ({ ...row, wantedCents, days: [day, row.day] as const })));
  }
}

type Found = candidates.CandidateRow & {
  wantedCents: bigint | null;
  days: readonly [string, string];
};

function describe(rows: Found[]): Detail['candidates'] {
  const found = rows.map((row) => ({ ...row, key: row.expectedPaymentId ?? String(row.nsu) }));
  return rankCandidates(found).map(({ found: one, score, reasons }) => ({
    expectedPaymentId: one.expectedPaymentId,
    nsu: one.nsu,
    kind: one.kind,
    amount: one.amountCents,
    day: one.day,
    score,
    reasons,
  }));
}

function describeBreak(row: queries.BreakRow, today: string): z.output<typeof breakView> {
  const { id, kind, state, nsu, expectedPaymentId, evidence, openedDay, resolvedAt } = row;
  const until = resolvedAt === null ? today : saoPauloDay(resolvedAt);
  return {
    id,
    kind,
    state,
    amount: row.amountCents,
    nsu,
    expectedPaymentId,
    evidence,
    severity: severityOf(row, ageCutoffs(until)),
    ageDays: Math.max(0, daysBetween(openedDay, until)),
    openedAt: row.openedAt.toISOString(),
    resolvedAt: resolvedAt?.toISOString() ?? null,
    resolution: row.resolution,
  };
}
