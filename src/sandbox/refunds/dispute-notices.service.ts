// Sends the webhooks of disputes, and blocks what a MED request asks for where a mode says so. The
// bank publishes only their names; the bodies are this bank's.
import { Injectable } from '@nestjs/common';
import type { RouteInput } from '../../bank-contract/route.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { SandboxAccount } from '../accounts/party.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { Random } from '../random.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import { MedBlocks } from './med-blocks.service.js';
import type { reportDispute } from './med.schema.js';

@Injectable()
export class DisputeNotices {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly webhooks: Webhooks,
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly blocks: MedBlocks,
  ) {}

  async send(caller: SandboxAccount, request: RouteInput<typeof reportDispute>['body']) {
    const account = await this.accounts.getNamed(request.account, caller);
    const { eventType, endToEndId, amount, deadline } = request;
    const at = this.clock.now();
    const id = this.random.uuid();
    const body = {
      ...{ eventType, id, endToEndId },
      ...(amount ? { amount: wireReais(amount) } : {}),
      ...(deadline ? { deadline } : {}),
      createdAt: at.toISOString(),
    };
    await this.database.transaction(async (tx) => {
      if (eventType === 'MED_REQUESTED' && amount)
        await this.blocks.block(tx, account, endToEndId, amount);
      if (eventType === 'MED_ACCEPTED' || eventType === 'MED_REJECTED')
        await this.blocks.release(tx, account, endToEndId);
      this.webhooks.notify(tx, account, eventType, { body, at });
    });
    return { id, eventType, endToEndId };
  }
}
