// Posts statement lines that no request of a client causes: received TEDs, fees, unknown types.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement } from '../ledger/movement.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { transferBody } from '../transfers/transfer-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import type { postTransaction } from './control.schema.js';
import { movementOfLine, type PostedMovement } from '../ledger/posted-movement.js';
import { partiesOfLine, proofOfArbitraryLine, tedEvents } from './arbitrary-line-proof.js';

@Injectable()
export class ArbitraryLines {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly ledger: SandboxLedger,
    private readonly random: Random,
    private readonly webhooks: Webhooks,
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
    const externalId = request.externalId ?? null;
    const id = this.random.uuid();
    const parties = partiesOfLine(isCredit, account, counterparty);
    const line = { typeName, notes, endToEndId, amountCents: amount, isCredit };
    const movement = outsideMovement(account, 'other', isCredit ? amount : -amount, {
      typeName,
      preset: 'complete',
      notes,
      correlationId: request.correlationId ?? null,
      externalId,
      endToEndId,
      proof: proofOfArbitraryLine(line, { id, ...parties }),
    });
    return this.database.transaction(async (tx) => {
      const [posted] = await this.ledger.post(tx, movement);
      const { createdAt } = posted;
      const eventType = tedEvents.get(typeName);
      if (eventType) {
        const ted = { id, externalId, amountCents: amount, createdAt, ...parties };
        const body = transferBody({ ...ted, status: 'EFFECTIVE', type: 'EXTERNAL' }, eventType);
        this.webhooks.notify(tx, account, eventType, { body, at: createdAt });
      }
      return movementOfLine(posted);
    });
  }
}
