// Reads the statement: the account's lines, newest first.
import { Injectable } from '@nestjs/common';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { StatementQuery, Transaction } from '../../contract/statement.js';
import { AppError } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/bank-account.js';
import { isTransactionTypeName } from '../ledger/transaction-types.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { statementLine } from './statement-line.js';
import { listLines } from './statement.queries.js';

const defaultLimit = 10;

@Injectable()
export class Statement {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly modes: Modes,
  ) {}

  async list(account: BankAccount, query: StatementQuery): Promise<Transaction[]> {
    const unknown = query.type?.filter((name) => !isTransactionTypeName(name)) ?? [];
    if (unknown.length > 0)
      throw new AppError('validation_failed', {
        errors: { '$.type': unknown.map(() => 'Is not a type of the bank.') },
      });
    const limit = Math.min(query.limit ?? defaultLimit, this.modes.current.statementPageCap);
    const rows = await listLines(this.database, {
      accountId: account.id,
      nsu: query.nsu ?? null,
      isCredit: query.isCredit ?? null,
      typeNames: query.type ?? null,
      from: query.startDate ? statementDayStart(query.startDate) : null,
      until: query.endDate ? statementDayStart(query.endDate) : null,
      endToEndId: query.endToEndId ?? null,
      offset: BigInt((query.page ?? 1) - 1) * BigInt(limit),
      limit,
    });
    return rows.map(statementLine);
  }
}
