// Reads the statement: the account's lines that it tells by now, in the order that a mode chooses. Faults here are a
// statement that lags and a page that shifts while it is read.
import { Injectable } from '@nestjs/common';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { StatementQuery, Transaction } from '../../contract/statement.js';
import { AppError, invariant } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { isTransactionTypeName } from '../ledger/transaction-types.js';
import { Modes } from '../modes/modes.service.js';
import { PixCredits } from '../pix/pix-credits.service.js';
import { pageOffset } from '../wire-values.js';
import { SandboxDatabase, type Tx } from '../sandbox-database.service.js';
import { statementLine } from './statement-line.js';
import { findStatementRow, findUsedTypeNames, listStatementRows } from './statement.queries.js';

const defaultLimit = 10;
/** What comes in when a fault shifts the pages. */
const shiftingCents = 1n;

@Injectable()
export class Statement {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly modes: Modes,
    private readonly clock: BankClock,
    private readonly faults: Faults,
    private readonly pixCredits: PixCredits,
  ) {}

  async list(account: BankAccount, asked: StatementQuery): Promise<Transaction[]> {
    await this.refuseUnknownTypes(account, asked.type ?? []);
    // Whatever else is asked for: of a transaction that exists only that one is told.
    const query: StatementQuery = asked.nsu === undefined ? asked : { nsu: asked.nsu };
    const page = query.page ?? 1;
    if (page > 1) await this.shiftPages(account);
    const lag = this.faults.take(['transactions'], 'statement-lag');
    const { statementOrder, statementPageCap } = this.modes.current;
    const { endToEndId = null } = query;
    // At most one transaction of an endToEndId is told: the movement itself, whose reversal comes after it.
    if (endToEndId !== null && page > 1) return [];
    const limit = endToEndId !== null ? 1 : Math.min(query.limit ?? defaultLimit, statementPageCap);
    const rows = await listStatementRows(this.database, {
      accountId: account.id,
      asOf: new Date(this.clock.now().getTime() - (lag?.delayMs ?? 0)),
      isPast: lag !== null,
      nsu: query.nsu ?? null,
      isCredit: query.isCredit ?? null,
      typeNames: query.type ?? null,
      from: query.startDate ? statementDayStart(query.startDate) : null,
      until: query.endDate ? statementDayStart(query.endDate) : null,
      endToEndId,
      order: endToEndId !== null ? 'movement' : statementOrder,
      offset: pageOffset(page, limit),
      limit,
    });
    return rows.map(statementLine);
  }

  /** A line that was just posted, as the statement will tell it. */
  async readPosted(tx: Tx, account: BankAccount, nsu: bigint): Promise<Transaction> {
    const row = await findStatementRow(tx, account.id, nsu);
    invariant(row, 'a line that was posted is there');
    return statementLine(row);
  }

  /** A name is known when it is the bank's own, or when a test wrote a line of it. */
  private async refuseUnknownTypes(account: BankAccount, names: string[]): Promise<void> {
    const foreign = names.filter((name) => !isTransactionTypeName(name));
    if (foreign.length === 0) return;
    const used = await findUsedTypeNames(this.database, account.id, foreign);
    const unknown = foreign.filter((name) => !used.has(name));
    if (unknown.length > 0)
      throw new AppError('validation_failed', {
        errors: { '$.type': unknown.map(() => 'Is not a type of the bank.') },
      });
  }

  /** A fault: between two pages a Pix comes in, so that what stood last on one stands first on the next. */
  private async shiftPages(account: BankAccount): Promise<void> {
    if (!this.faults.take(['transactions'], 'page-shift')) return;
    await this.database.transaction((tx) =>
      this.pixCredits.credit(tx, {
        account,
        amountCents: shiftingCents,
        type: 'PIX_MANUAL',
        correlationId: null,
        payer: {},
      }),
    );
  }
}
