// Finds who is notified of debits. Only lines count: before an alarm, the bank is asked for the
// line once more by its nsu.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { isFeeType } from '../../bank-contract/line-types.js';
import { readStatementPage } from '../../bank-contract/statement.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Log } from '../../platform/log.js';
import type { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { isPriced } from '../../reconciliation/decide/fee-check.js';
import { listFeeLines, listPriceLists } from '../../reconciliation/load/fees.queries.js';
import { parseStatementLine } from '../../statement/lines/statement-line.js';
import type { DebitLevel } from './conditions.schema.js';
import { noticesOf, type FoundDebit, type NotedNotice } from './debit-notices.js';
import {
  countEarlierDebits,
  listDebitsEverNoted,
  listNotedDebits,
  type NotedDebit,
} from './debit-notices.queries.js';

const callDeadlineMs = 2_000;
/** Of many new alarms the rest follows with the next evaluations: the first must not wait. */
const maxReads = 10;

export interface KnownDebits {
  level: DebitLevel;
  /** The lines whose alarm is raised already. */
  raised: ReadonlySet<bigint>;
  /** The lines of which the rule has an alert already. */
  own: ReadonlySet<bigint>;
  /** The bank may be asked; otherwise a job asks it, for a minute. */
  isAtOnce: boolean;
}

@Injectable()
export class DebitNotices {
  constructor(
    private readonly database: Database,
    private readonly controls: ControlChanges,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly log: Log,
    @InjectQueue(jobs.raiseAlerts.name) private readonly raiseQueue: JobQueue<'raiseAlerts'>,
  ) {}

  /**
   * The debits of a level, and how many earlier ones there are. An alarm that is not raised yet,
   * because the bank does not show its line, is a critical alert until then. `absent`: alarms whose
   * line the bank has answered without.
   */
  async list(
    accountId: number,
    { level, raised, own, isAtOnce }: KnownDebits,
  ): Promise<{ notices: NotedNotice[]; earlier: number; absent: ReadonlySet<bigint> }> {
    const { debits, notices: all } = await this.read(accountId);
    const alarms = all.filter(({ notice }) => notice === 'alarm');
    if (level === 'alert') {
      const waiting = alarms.filter(({ nsu }) => !raised.has(nsu) && (isAtOnce || own.has(nsu)));
      return {
        notices: [
          ...all.filter(({ notice }) => ['alert', 'critical_alert'].includes(notice)),
          ...waiting.map((one) => ({ ...one, notice: 'critical_alert' as const })),
        ],
        earlier: await countEarlierDebits(this.database.prisma, accountId),
        absent: new Set(),
      };
    }
    const isAlarm = new Set(alarms.map(({ nsu }) => nsu));
    const fresh = debits.filter(({ nsu }) => isAlarm.has(nsu) && !raised.has(nsu));
    // A bank that does not answer, or does not show the line, delays no alarm for over a minute.
    const asked = isAtOnce ? fresh : fresh.filter(({ hasWaited }) => hasWaited);
    if (asked.length < fresh.length) await this.raiseQueue.enqueue({ accountId });
    const { shown, absent } = await this.askFor(accountId, asked);
    const withheld = new Set(
      fresh.flatMap(({ nsu, hasWaited }) => (hasWaited || shown.has(nsu) ? [] : [nsu])),
    );
    return { notices: alarms.filter(({ nsu }) => !withheld.has(nsu)), earlier: 0, absent };
  }

  /** All but the earlier ones, in the order of their times. */
  async listAll(accountId: number): Promise<NotedNotice[]> {
    return (await this.read(accountId)).notices;
  }

  /** The alarms of the last 90 days, newest first, as the present controls find them. */
  async listAlarmsOfDays(accountId: number) {
    const noted = await listDebitsEverNoted(this.database.prisma, accountId);
    const { debits, notices } = await this.find(accountId, noted);
    const alarms = new Map(
      notices.filter(({ notice }) => notice === 'alarm').map(({ nsu, row }) => [nsu, row]),
    );
    return debits
      .flatMap((debit) => {
        const row = alarms.get(debit.nsu);
        return row ? [{ ...debit, row }] : [];
      })
      .sort((a, b) => b.occurredAt.getTime() - a.occurredAt.getTime() || (a.nsu < b.nsu ? 1 : -1));
  }

  private async read(accountId: number) {
    return this.find(accountId, await listNotedDebits(this.database.prisma, accountId));
  }

  private async find(accountId: number, noted: readonly NotedDebit[]) {
    if (noted.length === 0) return { debits: [], notices: [] };
    const priced = await this.pricedOf(accountId, noted);
    const debits = noted.map((one) => ({ ...one, isPricedFee: priced.has(one.nsu) }));
    return { debits, notices: noticesOf(debits, await this.controls.readGuard(accountId)) };
  }

  /** The debits that are fees by their type, not by a rule alone, and have a tariff. */
  private async pricedOf(
    accountId: number,
    noted: readonly NotedDebit[],
  ): Promise<ReadonlySet<bigint>> {
    const fees = noted.filter(({ isFee, typeName }) => isFee && isFeeType(typeName));
    if (fees.length === 0) return new Set();
    const { prisma } = this.database;
    const lists = await listPriceLists(prisma, accountId);
    if (lists.length === 0) return new Set();
    const times = fees.map(({ occurredAt }) => occurredAt.getTime());
    const window = { from: new Date(Math.min(...times)), until: new Date(Math.max(...times) + 1) };
    const lines = await listFeeLines(prisma, accountId, window);
    const isOfType = new Set(fees.map(({ nsu }) => nsu));
    return new Set(
      lines.filter((line) => isOfType.has(line.nsu) && isPriced(lists, line)).map(({ nsu }) => nsu),
    );
  }

  /** Which of the largest debits the bank shows again, and which it answers without. */
  private async askFor(accountId: number, debits: readonly FoundDebit[]) {
    const [shown, absent] = [new Set<bigint>(), new Set<bigint>()];
    if (debits.length === 0) return { shown, absent };
    const account = await this.accounts.get(accountId);
    const largest = [...debits]
      .sort((a, b) => (a.amountCents > b.amountCents ? -1 : 1))
      .slice(0, maxReads);
    await Promise.all(
      largest.map(async (debit) => {
        const isShown = await this.isAtBank(account, debit);
        if (isShown !== null) (isShown ? shown : absent).add(debit.nsu);
      }),
    );
    return { shown, absent };
  }

  /** Null without an answer. A line that cannot be read may be anything: it is as good as shown. */
  private async isAtBank(
    account: BankAccount,
    { nsu, amountCents }: FoundDebit,
  ): Promise<boolean | null> {
    const input = { query: { nsu } };
    const deadline = { deadlineMs: callDeadlineMs };
    const response = await this.bank.call(readStatementPage, account, input, deadline);
    if (response.outcome !== 'success') return null;
    const isShown = response.value
      .map((entry) => parseStatementLine(entry))
      .some(
        (entry) => !entry.ok || (entry.line.nsu === nsu && entry.line.amountCents === amountCents),
      );
    const { id: accountId } = account;
    if (!isShown) this.log.error({ accountId, nsu: nsu.toString() }, 'debit is not at the bank');
    return isShown;
  }
}
