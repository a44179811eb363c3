// The fees about a month beside what was agreed: figures, and the lines to claim from the bank.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { monthOf } from '../../brazil/calendar.js';
import type { TariffKind } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { groupBy } from '../../platform/grouping.js';
import { Database } from '../../platform/postgres/database.service.js';
import {
  checkFees,
  expectedOfMonth,
  overchargeOf,
  type CheckedFee,
} from '../../reconciliation/decide/fee-check.js';
import {
  feeWindow,
  listPriceLists,
  loadFeeFacts,
  sumReturnedFees,
} from '../../reconciliation/load/fees.queries.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { csvFile } from '../exports/csv-file.js';
import { FileStreams, type OpenedFile } from '../exports/file-streams.service.js';
import { ReadingLimits } from '../exports/reading-limits.service.js';
import { xlsxFile } from '../exports/xlsx-file.js';
import { feesTable } from './fees-table.js';
import type { exportFees, getFeeCheck } from './tariffs.schema.js';
import type { RouteInput } from '../../bank-contract/route.js';

const maxMismatches = 1_000;

@Injectable()
export class FeeChecks {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
    private readonly limits: ReadingLimits,
    private readonly streams: FileStreams,
  ) {}

  /** Throws `not_found` for a month that has not begun, or before the first line. */
  async get(accountId: number, month: string): Promise<RouteOutput<typeof getFeeCheck>> {
    const { fees, expected, returned } = await this.check(accountId, month);
    const byKind = groupBy(fees, ({ kind }) => kind);
    const kinds = new Set<TariffKind | null>([...expected.keys(), ...byKind.keys()]);
    const tariffs = [...kinds].map((kind) => ({
      kind,
      ...sumsOf(byKind.get(kind) ?? [], kind === null ? 0n : (expected.get(kind) ?? 0n)),
    }));
    const wrong = fees.filter(({ state }) => state === 'mismatch');
    const ofState = (wanted: CheckedFee['state']) =>
      fees.filter(({ state }) => state === wanted).length;
    return {
      month,
      ...sumsOf(
        fees,
        tariffs.reduce((sum, one) => sum + one.expected, 0n),
      ),
      ...{ waiting: ofState('waiting'), unpriced: ofState('unpriced'), returned, tariffs },
      mismatches: wrong.slice(0, maxMismatches).map((fee) => ({
        ...{ nsu: fee.nsu, date: fee.day, kind: fee.kind, period: fee.period },
        ...{ charged: fee.chargedCents, expected: fee.expectedCents },
        overcharge: overchargeOf(fee),
      })),
    };
  }

  /** Throws `not_found` for a month that has not begun, `rate_limited` with many open files. */
  async file(
    accountId: number,
    month: string,
    { format, delimiter }: RouteInput<typeof exportFees>['query'],
  ): Promise<OpenedFile> {
    return this.streams.open(accountId, async () => {
      const { slug } = await this.accounts.get(accountId);
      const { fees } = await this.check(accountId, month);
      const file = format === 'csv' ? csvFile(feesTable, delimiter) : xlsxFile(feesTable);
      return this.streams.stream(`concilia-${slug}-fees-${month}`, file, pagesOf(fees));
    });
  }

  private async check(accountId: number, month: string) {
    const now = await this.bankTime.now(accountId);
    const db = this.database.prisma;
    const where = { accountId, occurredAt: { lt: feeWindow({ from: month, to: month }).counted } };
    const hasBegun = month <= monthOf(await this.bankTime.today(accountId));
    if (!hasBegun || !(await db.statementLine.findFirst({ where })))
      throw new AppError('not_found');
    // One query after another: a read slot may use one connection only.
    return this.limits.withReadSlot(async () => {
      const lists = await listPriceLists(db, accountId);
      const read = await db.reconciliationState.findUnique({ where: { accountId } });
      const asOf = read?.asOf ?? now;
      const months = { from: month, to: month };
      const facts = await loadFeeFacts(db, accountId, months, { lists, asOf });
      return {
        fees: checkFees(facts).filter(({ period }) => monthOf(period) === month),
        expected: expectedOfMonth(facts, month),
        returned: await sumReturnedFees(db, accountId, month),
      };
    });
  }
}

function sumsOf(fees: readonly CheckedFee[], expected: bigint) {
  const sum = (pick: (fee: CheckedFee) => bigint) =>
    fees.reduce((total, fee) => total + pick(fee), 0n);
  const positive = (cents: bigint) => (cents > 0n ? cents : 0n);
  return {
    expected,
    charged: sum(({ chargedCents }) => chargedCents),
    overcharge: sum((fee) => positive(overchargeOf(fee))),
    undercharge: sum((fee) => positive(-overchargeOf(fee))),
    lines: fees.length,
  };
}

async function* pagesOf(fees: CheckedFee[]): AsyncGenerator<CheckedFee[]> {
  const size = 500;
  for (let start = 0; start < fees.length; start += size)
    yield Promise.resolve(fees.slice(start, start + size));
}
