// Reads the statement: the account's lines that are visible now, in the order that a mode sets.
// Faults can make the statement lag or shift its pages while it is read.
import { Injectable } from '@nestjs/common';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { StatementQuery, Transaction } from '../../bank-contract/statement.js';
import type { Account } from '../../generated/sandbox/client.js';
import { AppError, invariant } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Faults } from '../faults/faults.service.js';
import { availableCents } from '../ledger/movement.js';
import { isPartShown, isShownTypeName } from '../presets/presets.js';
import { Modes } from '../modes/modes.service.js';
import { PixCredits } from '../pix/pix-credits.service.js';
import { pageOffset } from '../wire-values.js';
import { SandboxDatabase, type SandboxTx } from '../sandbox-database.service.js';
import { statementLine } from './statement-line.js';
import { findUsedTypeNames, listStatementRows, type StatementRow } from './statement.queries.js';

const defaultLimit = 10;
/** The amount of the Pix that a fault credits to shift the pages. */
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

  async list(account: SandboxAccount, request: StatementQuery): Promise<Transaction[]> {
    await this.refuseUnknownTypes(account, request.type ?? []);
    // A query with an nsu returns that line alone; its other filters do not apply.
    const query: StatementQuery = request.nsu === undefined ? request : { nsu: request.nsu };
    const page = query.page ?? 1;
    if (page > 1) await this.shiftPages(account);
    const lag = this.faults.fire(['transactions'], 'statement-lag');
    const { statementOrder, statementPageCap, endDate } = this.modes.current;
    const { endToEndId = null } = query;
    // A query by endToEndId returns one line at most: the first movement, and not its later
    // reversal.
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
      includesUntil: endDate === 'inclusive',
      endToEndId,
      order: endToEndId !== null ? 'movement' : statementOrder,
      offset: pageOffset(page, limit),
      limit,
    });
    return rows.map(statementLine);
  }

  /** Money of a Pix that is not yet effective is blocked: part of the total, but not available. */
  async readBalances({ id }: SandboxAccount) {
    const found = await this.database.findRow<Account>('account', { id });
    invariant(found && found.balanceCents !== null, 'a customer has its balance');
    const { balanceCents, blockedCents } = found;
    return {
      amountAvailable: availableCents({ balanceCents, blockedCents }),
      ...(isPartShown('balances.blockedAndTotal', this.modes.current.preset)
        ? { amountBlocked: blockedCents, amountTotal: balanceCents }
        : {}),
    };
  }

  /** A line that was just posted, in the form of the statement. */
  async readPosted(tx: SandboxTx, account: SandboxAccount, nsu: bigint): Promise<Transaction> {
    const key = { accountId: account.id, nsu };
    const row = await tx.findRow<StatementRow>('statement_line', key);
    invariant(row, 'a posted line exists');
    return statementLine(row);
  }

  /** A type is known when it is the bank's own or when a line of the account has it. */
  private async refuseUnknownTypes(account: SandboxAccount, names: string[]): Promise<void> {
    const otherNames = names.filter((name) => !isShownTypeName(name, this.modes.current));
    if (otherNames.length === 0) return;
    const used = await findUsedTypeNames(this.database, account.id, otherNames);
    const unknown = otherNames.filter((name) => !used.has(name));
    if (unknown.length > 0)
      throw new AppError('validation_failed', {
        errors: { '$.type': unknown.map(() => 'Must be a type of the bank.') },
      });
  }

  /**
   * Applies the fault `page-shift`: a Pix is credited between two pages, so that the last line of
   * one page is the first line of the next.
   */
  private async shiftPages(account: SandboxAccount): Promise<void> {
    if (!this.faults.fire(['transactions'], 'page-shift')) return;
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
