// Finds who is notified of debits. Only lines count: before an alarm, the bank is asked for the
// line once more by its nsu.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { readStatementPage } from '../../bank-contract/statement.js';
import { ControlChanges } from '../../outbound/payment-controls/control-changes.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Log } from '../../platform/log.js';
import { parseStatementLine } from '../../statement/lines/statement-line.js';
import type { DebitLevel } from './conditions.schema.js';
import { noticesOf, type FoundDebit, type NotedNotice } from './debit-notices.js';
import { listNotedDebits } from './debit-notices.queries.js';

const callDeadlineMs = 2_000;
/** Of many new alarms the rest follows with the next evaluations: the first must not wait. */
const maxReads = 10;

@Injectable()
export class DebitNotices {
  constructor(
    private readonly database: Database,
    private readonly controls: ControlChanges,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly log: Log,
  ) {}

  /** The debits of this level; `known`: the lines whose alarm is raised already. */
  async list(
    accountId: number,
    level: DebitLevel,
    known: ReadonlySet<bigint>,
  ): Promise<NotedNotice[]> {
    const { debits, notices: all } = await this.read(accountId);
    if (level === 'alert')
      return all.filter(({ notice }) => ['recorded', 'alert', 'critical_alert'].includes(notice));
    const debitByNsu = new Map(debits.map((debit) => [debit.nsu, debit]));
    const alarms = all.filter(({ notice }) => notice === 'alarm');
    const seen = new Set(known);
    const fresh = alarms.filter(({ nsu }) => !known.has(nsu)).slice(-maxReads);
    for (const { nsu } of fresh) {
      const debit = debitByNsu.get(nsu);
      if (debit && (await this.isAtBank(accountId, debit))) seen.add(nsu);
    }
    return alarms.filter(({ nsu }) => seen.has(nsu));
  }

  /** All of them, in the order of their times. */
  async listAll(accountId: number): Promise<NotedNotice[]> {
    return (await this.read(accountId)).notices;
  }

  private async read(accountId: number) {
    const debits = await listNotedDebits(this.database.prisma, accountId);
    if (debits.length === 0) return { debits, notices: [] };
    return { debits, notices: noticesOf(debits, await this.controls.readGuard(accountId)) };
  }

  /** A bank that does not answer for a minute delays no alarm for longer. */
  private async isAtBank(
    accountId: number,
    { nsu, amountCents, hasWaited }: FoundDebit,
  ): Promise<boolean> {
    const account = await this.accounts.get(accountId);
    const input = { query: { nsu } };
    const deadline = { deadlineMs: callDeadlineMs };
    const response = await this.bank.call(readStatementPage, account, input, deadline);
    if (response.outcome !== 'success') return hasWaited;
    const isShown = response.value
      .map((entry) => parseStatementLine(entry))
      .some(
        (entry) => entry.ok && entry.line.nsu === nsu && entry.line.amountCents === amountCents,
      );
    if (!isShown) this.log.error({ accountId, nsu: nsu.toString() }, 'debit is not at the bank');
    return isShown;
  }
}
