// The chart of accounts and the mapping of an account. Each change is a version; both change under
// one lock, so that the mapping's codes are always of the chart.
import { Injectable } from '@nestjs/common';
import type { RouteOutput } from '../../bank-contract/route.js';
import { fieldError } from '../../bank-contract/field-errors.js';
import { AppError, conflict, invalidField, unlisted } from '../../platform/errors.js';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import { lockReconciliation } from '../../reconciliation/apply/decision-writer.queries.js';
import { lineKinds } from '../exports/line-kind.js';
import { readChart, type ChartRow } from './chart-file.js';
import { moneyClassNames, type Mapping, type MappingEntry } from './journal.js';
import type { getChart, getMapping, MappingBody } from './journal.schema.js';

@Injectable()
export class JournalSetup {
  constructor(private readonly database: Database) {}

  async getChart(accountId: number): Promise<RouteOutput<typeof getChart>> {
    const chart = await findChart(this.database.prisma, accountId);
    return { chart: chart && { ...chart, at: chart.createdAt } };
  }

  /** Throws `validation_failed` for what is no chart, or lacks a code that the mapping uses. */
  async changeChart(accountId: number, given: { csv: string; reason: string }, actor: string) {
    const read = readChart(given.csv);
    if ('errors' in read)
      throw new AppError('validation_failed', { errors: { '$.csv': read.errors } });
    await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const mapping = await findMapping(tx, accountId);
      const missing = mapping && missingCode(mapping, read.rows);
      if (missing != null)
        throw invalidField('$.csv', fieldError('chart_code_used', { code: missing }));
      const version = ((await findChart(tx, accountId))?.version ?? 0) + 1;
      const { reason } = given;
      await tx.chartOfAccounts.create({ data: { accountId, version, actor, reason } });
      await tx.chartAccount.createMany({
        data: read.rows.map((row, ordinal) => ({ accountId, version, ordinal, ...row })),
      });
    });
    return this.getChart(accountId);
  }

  /** The last version, or the one that is asked for. */
  async getMapping(accountId: number, version?: number): Promise<RouteOutput<typeof getMapping>> {
    const mapping = await findMapping(this.database.prisma, accountId, version);
    if (!mapping) return { mapping };
    const { createdAt: at, entries, ...rest } = mapping;
    return {
      mapping: {
        ...{ ...rest, at },
        entries: entries.map(({ isCredit, ...entry }) => ({
          ...entry,
          direction: isCredit === null ? null : isCredit ? 'credit' : 'debit',
        })),
      },
    };
  }

  /**
   * Throws `validation_failed` for a code to which nothing can be posted, and `conflict` if the
   * mapping is no longer the version that was `seen`: 0 before the first one.
   */
  async changeMapping(accountId: number, body: MappingBody, actor: string, seen?: number) {
    const { bankCode, per, reason } = body;
    const entries = body.entries.map(({ direction, contraCode, ...entry }) => ({
      isCredit: direction == null ? null : direction === 'credit',
      lineKind: entry.lineKind ?? null,
      classification: entry.classification ?? null,
      category: entry.category ?? null,
      contraCode,
    }));
    await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const chart = await findChart(tx, accountId);
      if (!chart) throw invalidField('$.bankCode', fieldError('chart_needed'));
      const missing = missingCode({ bankCode, entries }, chart.accounts);
      if (missing !== null)
        throw invalidField(
          missing === bankCode
            ? '$.bankCode'
            : `$.entries[${entries.findIndex(({ contraCode }) => contraCode === missing)}].contraCode`,
          fieldError('chart_code'),
        );
      const own = entries.findIndex(({ contraCode }) => contraCode === bankCode);
      if (own >= 0) throw invalidField(`$.entries[${own}].contraCode`, fieldError('code_of_bank'));
      const last = (await findMapping(tx, accountId))?.version ?? 0;
      if (seen !== undefined && seen !== last)
        throw conflict(unlisted('mapping_changed'), 'The mapping is not as it was seen.');
      const version = last + 1;
      const data = {
        accountId,
        version,
        chartVersion: chart.version,
        bankCode,
        per,
        actor,
        reason,
      };
      await tx.journalMapping.create({ data });
      await tx.journalMappingEntry.createMany({
        data: entries.map((entry, ordinal) => ({ accountId, version, ordinal, ...entry })),
      });
    });
    return this.getMapping(accountId);
  }
}

export function findChart(db: Db, accountId: number) {
  return db.chartOfAccounts.findFirst({
    where: { accountId },
    orderBy: { version: 'desc' },
    include: { accounts: { orderBy: { ordinal: 'asc' } } },
  });
}

/** Null for an account without a mapping. */
export async function findMapping(db: Db, accountId: number, version?: number) {
  const found = await db.journalMapping.findFirst({
    where: { accountId, ...(version !== undefined && { version }) },
    orderBy: { version: 'desc' },
    include: { entries: { orderBy: { ordinal: 'asc' } } },
  });
  if (!found) return null;
  const entries = found.entries.map(
    ({ isCredit, lineKind, classification, category, contraCode }): MappingEntry => ({
      ...{ isCredit, category, contraCode },
      lineKind: lineKinds.find((one) => one === lineKind) ?? null,
      classification: moneyClassNames.find((one) => one === classification) ?? null,
    }),
  );
  return { ...found, entries };
}

/** The first code of the mapping that is no postable account of the chart. */
function missingCode(
  { bankCode, entries }: Mapping,
  accounts: readonly Pick<ChartRow, 'code' | 'isPostable'>[],
): string | null {
  const codes = new Set(accounts.filter(({ isPostable }) => isPostable).map(({ code }) => code));
  const used = [bankCode, ...entries.map(({ contraCode }) => contraCode)];
  return used.find((code) => !codes.has(code)) ?? null;
}
