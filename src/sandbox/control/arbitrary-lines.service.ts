// Posts statement lines that the sandbox bank never creates by itself: TEDs, fees, unknown types.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../contract/route.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement } from '../ledger/movement.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import type { postTransaction } from './control.schema.js';
import { movementOfLine, type PostedMovement } from '../ledger/posted-movement.js';
import { proofOfArbitraryLine } from './arbitrary-line-proof.js';

@Injectable()
export class ArbitraryLines {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly ledger: SandboxLedger,
    private readonly random: Random,
  ) {}

  async post(
    caller: SandboxAccount,
    request: RouteInput<typeof postTransaction>['body'],
  ): Promise<PostedMovement> {
    const { amount, isCredit, typeName } = request;
    const account = await this.accounts.getNamed(request.account, caller);
    const counterparty = await this.accounts.getNamed(request.counterpartyAccount, null);
    const notes = request.notes ?? null;
    const endToEndId = request.endToEndId ?? null;
    const line = { typeName, notes, endToEndId, amountCents: amount, isCredit };
    const movement = outsideMovement(account, 'other', isCredit ? amount : -amount, {
      typeName,
      notes,
      correlationId: request.correlationId ?? null,
      externalId: request.externalId ?? null,
      endToEndId,
      proof: proofOfArbitraryLine(line, { id: this.random.uuid(), account, counterparty }),
    });
    const [posted] = await this.database.transaction((tx) => this.ledger.post(tx, movement));
    return movementOfLine(posted);
  }
}
