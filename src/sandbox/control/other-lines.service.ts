// Writes any line that the bank itself would not make: TEDs, fees, types that nobody knows.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { invariant } from '../../platform/errors.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { BankAccount } from '../accounts/bank-account.js';
import { Ledger } from '../ledger/ledger.service.js';
import { outsideMovement } from '../ledger/movement.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { movementOfLine } from './control-movement.js';
import type { ControlMovement, postTransaction } from './control.schema.js';

@Injectable()
export class OtherLines {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly ledger: Ledger,
  ) {}

  async post(
    caller: BankAccount,
    request: RouteInput<typeof postTransaction>['body'],
  ): Promise<ControlMovement> {
    const { amount, isCredit, typeName, notes = null } = request;
    const account = request.account ? await this.accounts.getByNumber(request.account) : caller;
    const movement = outsideMovement(account, 'other', isCredit ? amount : -amount, {
      typeName,
      notes,
    });
    const [line] = await this.database.transaction((tx) => this.ledger.post(tx, movement));
    invariant(line, 'a movement of a customer has its line');
    return movementOfLine(line);
  }
}
