// Reads breaks: with age and severity by the bank's day, history, and candidates computed on
// request.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { daysBetween } from '../../brazil/calendar.js';
import { saoPauloDay } from '../../brazil/statement-day.js';
import {
  counterpartyIn,
  findCounterparties,
  findExpectedCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
  shownResponse,
} from '../../access/counterparties/counterparty.schema.js';
import { unknownCounterparty, type Counterparty } from '../../access/counterparties/resolution.js';
import { Database } from '../../platform/postgres/database.service.js';
import { BankService } from '../../bank/bank.service.js';
import { readCreditDays } from '../../statement/expected-payments/credit-days.queries.js';
import { readDueDates } from '../../statement/expected-payments/due-dates.queries.js';
import { owedCentsWhenPaid } from '../../statement/expected-payments/settlement.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage, readUuid, toList } from '../../platform/http/listing.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import * as candidates from './break-candidates.queries.js';
import * as queries from './break-list.queries.js';
import { listPlans } from './break-plans.queries.js';
import { describePlan } from './break-plans.service.js';
import { versionOfBreak } from './break-version.js';
import type { breakDetail, breakView } from './breaks.schema.js';
import { idsIn, rankCandidates } from './candidate-ranking.js';
import {
  countBreaksByFacts,
  sumTotals,
  type BreakTotals,
  type OpenBreakCounts,
} from './open-break-counts.js';
import { readSeveritySteps } from './severity.queries.js';
import { severityOf, severityScale, type SeveritySteps } from './severity.js';
import { subjectOfExpected, subjectOfLine } from '../decide/break-kinds.js';

type Detail = z.output<typeof breakDetail>;
type Candidate = Omit<Detail['candidates'][number], 'counterparty'>;
/** A break as a list shows it, and the version of what it shows. */
export type VersionedView = z.output<typeof breakView> & { version: string };
/** A break with what the API does not show of it. */
export type BreakDetail = Detail & {
  version: string;
  subject: string;
  operationId: string | null;
};
/** A line or an expected payment. */
type Subject = Pick<queries.BreakRow, 'nsu' | 'expectedPaymentId'>;

/** Who reads: the scopes say whether names are shown. */
export type BreakReader = Pick<Caller, 'accountId'> & { scopes: readonly string[] };

@Injectable()
export class BreakReading {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly bank: BankService,
  ) {}

  async list(caller: BreakReader, query: queries.BreakFilters) {
    const page = readPage(query, queries.isBreakPlace);
    const { accountId } = caller;
    const { prisma } = this.database;
    const { today, steps } = await this.readScale(accountId);
    const scale = severityScale(steps, today);
    const rows = await queries.listBreakRows(prisma, accountId, query, page, scale);
    const viewOf = await this.viewsOf(caller, rows.rows, { today, steps });
    return toList(rows, page, queries.placeOfBreak, viewOf);
  }

  /** What the filters of a list select of the open breaks, by kind and by age. */
  async totalOpen({ accountId }: BreakReader, query: queries.BreakFilters): Promise<BreakTotals> {
    const { today, steps } = await this.readScale(accountId);
    const scale = severityScale(steps, today);
    const { prisma } = this.database;
    return sumTotals(await queries.totalOpenBreaks(prisma, accountId, query, scale), today);
  }

  /** The id of the break that follows in a list; null where none follows. */
  async findNextId(
    { accountId }: BreakReader,
    query: queries.BreakFilters,
    id: string,
  ): Promise<string | null> {
    const { prisma } = this.database;
    const { today, steps } = await this.readScale(accountId);
    const scale = severityScale(steps, today);
    const after = await queries.findBreakPlace(prisma, accountId, query, id, scale);
    if (after === null) return null;
    const page = { after, limit: 1 };
    const { rows } = await queries.listBreakRows(prisma, accountId, query, page, scale);
    return rows[0]?.id ?? null;
  }

  /** What ages and severities follow from: the day at the bank, and the account's steps. */
  private async readScale(accountId: number): Promise<{ today: string; steps: SeveritySteps }> {
    const [today, steps] = await Promise.all([
      this.bankTime.today(accountId),
      readSeveritySteps(this.database.prisma, accountId),
    ]);
    return { today, steps };
  }

  /** The breaks of these ids that the account has, with their versions, in the order of the ids. */
  async listByIds(caller: BreakReader, ids: readonly string[]): Promise<VersionedView[]> {
    const { accountId } = caller;
    const { prisma } = this.database;
    const where = { accountId, id: { in: ids.filter(isUuid) } };
    const [found, { today, steps }] = await Promise.all([
      prisma.break.findMany({ where }),
      this.readScale(accountId),
    ]);
    const viewOf = await this.viewsOf(caller, found, { today, steps });
    const byId = new Map(found.map((row) => [row.id, viewOf(row)]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** What a list shows of each of these breaks. */
  private async viewsOf(
    caller: BreakReader,
    rows: readonly queries.BreakRow[],
    { today, steps }: { today: string; steps: SeveritySteps },
  ): Promise<(row: queries.BreakRow) => VersionedView> {
    const ids = rows.map(({ id }) => id);
    const [counterparties, plans] = await Promise.all([
      this.counterpartiesOf(caller, rows),
      listPlans(this.database.prisma, caller.accountId, ids, today),
    ]);
    const planOf = new Map(plans.map((plan) => [plan.breakId, plan]));
    return (row) => ({
      ...describeBreak(row, today, steps, caller),
      ...describePlan(planOf.get(row.id)),
      counterparty: counterparties(row),
      version: versionOfBreak(row),
    });
  }

  /** How many breaks are open, by severity, age and kind, on this day at the bank. */
  async countOpen(accountId: number): Promise<OpenBreakCounts> {
    const [{ today, steps }, totals] = await Promise.all([
      this.readScale(accountId),
      // Their number follows days and kinds, and not breaks.
      this.database.prisma.openBreakTotal.findMany({ where: { accountId } }),
    ]);
    return countBreaksByFacts(totals, severityScale(steps, today), today);
  }

  /** Throws `not_found`, also for a break of another account. */
  async get(caller: BreakReader, id: string): Promise<BreakDetail> {
    const { accountId } = caller;
    const { prisma } = this.database;
    const where = { accountId_id: { accountId, id: readUuid(id) } };
    const include = { history: { orderBy: { sequence: 'asc' } } } as const;
    const [row, { today, steps }] = await Promise.all([
      prisma.break.findUnique({ where, include }),
      this.readScale(accountId),
    ]);
    if (!row) throw new AppError('not_found');
    const ranked = row.state === 'open' ? await this.candidatesOf(accountId, row) : [];
    const [viewOf, counterparties] = await Promise.all([
      this.viewsOf(caller, [row], { today, steps }),
      this.counterpartiesOf(caller, ranked),
    ]);
    return {
      ...viewOf(row),
      subject: row.subject,
      operationId: row.operationId,
      history: row.history.map((entry) => ({ ...entry, at: entry.createdAt })),
      candidates: ranked.map((one) => ({
        ...one,
        counterparty: counterparties(one) ?? unknownCounterparty,
      })),
    };
  }

  /** Who paid, by line or expected payment, as the caller may see it. */
  private async counterpartiesOf(
    { accountId, scopes }: BreakReader,
    rows: readonly Subject[],
  ): Promise<(row: Subject) => Counterparty | null> {
    const { prisma } = this.database;
    const nsus = rows.flatMap(({ nsu }) => nsu ?? []);
    const ids = rows.flatMap((row) => (row.nsu === null ? (row.expectedPaymentId ?? []) : []));
    const [ofLines, ofExpected] = await Promise.all([
      findCounterparties(prisma, accountId, nsus),
      findExpectedCounterparties(prisma, accountId, ids),
    ]);
    const isVisible = seesPersonalData(scopes);
    return ({ nsu, expectedPaymentId }) => {
      if (nsu !== null) return shownCounterparty(counterpartyIn(ofLines, nsu), isVisible);
      if (expectedPaymentId === null) return null;
      return shownCounterparty(counterpartyIn(ofExpected, expectedPaymentId), isVisible);
    };
  }

  private async candidatesOf(
    accountId: number,
    { nsu, expectedPaymentId, subject }: queries.BreakRow,
  ): Promise<Candidate[]> {
    if (nsu !== null && subject === subjectOfLine(nsu))
      return this.candidatesOfLine(accountId, nsu);
    if (expectedPaymentId !== null && subject === subjectOfExpected(expectedPaymentId))
      return this.candidatesOfExpected(accountId, expectedPaymentId);
    return [];
  }

  private async candidatesOfLine(accountId: number, nsu: bigint): Promise<Candidate[]> {
    const { prisma } = this.database;
    const where = { accountId_nsu: { accountId, nsu } };
    const line = await prisma.statementLine.findUnique({ where });
    if (!line) return [];
    const { amountCents: wantedCents, notes, correlationId, externalId, occurredAt } = line;
    const ids = [...idsIn([notes]), ...[correlationId, externalId].filter((id) => id !== null)];
    const paidDay = saoPauloDay(occurredAt);
    const [rows, creditDays] = await Promise.all([
      candidates.listSimilarExpectedPayments(prisma, accountId, line, ids),
      readCreditDays(prisma, accountId, this.bank.profile.creditDays),
    ]);
    const paid = { ...line, creditDays };
    return describe(
      rows.map((row) => ({
        ...row,
        // The amount owed for a slip depends on the day on which it was paid.
        amountCents:
          row.terms === null ? row.amountCents : owedCentsWhenPaid(termsOf(row), wantedCents, paid),
        wantedCents,
        days: [paidDay, row.day] as const,
      })),
    );
  }

  private async candidatesOfExpected(accountId: number, id: string): Promise<Candidate[]> {
    const { prisma } = this.database;
    const where = { accountId_id: { accountId, id } };
    const include = { total: true, references: true };
    const expected = await prisma.expectedPayment.findUnique({ where, include });
    if (!expected) return [];
    const { amountCents, isMultiUse, createdAt, total } = expected;
    const day = expected.dueDate ?? saoPauloDay(createdAt);
    const paidCents = isMultiUse ? 0n : (total?.paidCents ?? 0n);
    const wantedCents = amountCents === null ? null : amountCents - paidCents;
    const ids = expected.references.map(({ value }) => value).filter(({ length }) => length >= 6);
    const similar = { ...expected, wantedCents, ids };
    const rows = await candidates.listSimilarLines(prisma, accountId, similar);
    return describe(rows.map((row) => ({ ...row, wantedCents, days: [day, row.day] as const })));
  }
}

type Found = candidates.CandidateRow & {
  wantedCents: bigint | null;
  days: readonly [string, string];
};

const termsOf = (row: candidates.CandidateRow) => ({
  ...row,
  dueDates: readDueDates(row.dueDates),
});

function describe(rows: Found[]): Candidate[] {
  const found = rows.map((row) => ({ ...row, key: row.expectedPaymentId ?? String(row.nsu) }));
  return rankCandidates(found).map(({ found: one, ...rank }) => ({
    ...one,
    ...rank,
    amount: one.amountCents,
  }));
}

function describeBreak(
  row: queries.BreakRow,
  today: string,
  steps: SeveritySteps,
  { scopes }: Pick<BreakReader, 'scopes'>,
): Omit<z.output<typeof breakView>, 'counterparty' | 'assignee' | 'snoozedUntil'> {
  const { amountCents: amount, openedAt, resolvedAt } = row;
  const openedDay = row.openedDay ?? saoPauloDay(openedAt);
  const until = resolvedAt === null ? today : saoPauloDay(resolvedAt);
  return {
    ...row,
    evidence: shownResponse(row.evidence, scopes),
    amount,
    severity: severityOf({ ...row, openedDay }, severityScale(steps, until)),
    ageDays: Math.max(0, daysBetween(openedDay, until)),
  };
}
