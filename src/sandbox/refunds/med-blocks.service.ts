// Blocks the amount of a MED request in the balance of the account, until the request is decided or
// the bank has refunded the Pix. A balance that is too small is blocked as far as it goes.
import { Injectable } from '@nestjs/common';
import type { SandboxAccount } from '../accounts/party.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { availableCents } from '../ledger/movement.js';
import { Modes } from '../modes/modes.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { deleteMedBlock } from './refunds.queries.js';

@Injectable()
export class MedBlocks {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly modes: Modes,
  ) {}

  async block(
    tx: SandboxTx,
    account: SandboxAccount,
    endToEndId: string,
    requestedCents: bigint,
  ): Promise<void> {
    if (this.modes.current.medBlock === 'none') return;
    await this.release(tx, account, endToEndId);
    const available = availableCents((await this.ledger.lock(tx, [account])).get(account.id)!);
    const cents = available < requestedCents ? available : requestedCents;
    if (cents <= 0n) return;
    await this.ledger.block(tx, account, cents);
    await tx.insert('med_block', { accountId: account.id, endToEndId, cents });
  }

  /** Does nothing where the Pix has no block. */
  async release(tx: SandboxTx, account: SandboxAccount, endToEndId: string): Promise<void> {
    const block = await deleteMedBlock(tx, account.id, endToEndId);
    if (block) await this.ledger.unblock(tx, account, block.cents);
  }
}
