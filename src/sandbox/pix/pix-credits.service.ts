// Credits a Pix that came in, from another institution or from an account of this bank: the movement with its proof,
// and its notification.
import { Injectable } from '@nestjs/common';
import { invariant } from '../../platform/errors.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement, type PostedLine } from '../ledger/movement.js';
import type { Tx } from '../sandbox-database.service.js';
import { EndToEndIds } from './end-to-end-ids.service.js';
import { pixReceivedBody, type PixReceipt } from './pix-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import { type BankAccount, type OutsidePayer, type Party, partyOfAccount, partyOutside } from '../accounts/party.js';

/** How the payer came to the account. */
export type PixType = 'PIX_QR_CODE_STATIC' | 'PIX_KEY' | 'PIX_MANUAL';

interface PixToAccount {
  account: BankAccount;
  amountCents: bigint;
  type: PixType;
  correlationId: string | null;
}

export interface IncomingPix extends PixToAccount {
  payer: OutsidePayer;
}

export interface ArrivingPix extends PixToAccount {
  endToEndId: string;
  /** What the payer wrote; null for the bank's own words. */
  description?: string | null;
}

@Injectable()
export class PixCredits {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly ids: EndToEndIds,
  ) {}

  async credit(tx: Tx, pix: IncomingPix): Promise<{ line: PostedLine; receipt: PixReceipt }> {
    const payer = partyOutside(pix.payer);
    const endToEndId = this.ids.next('E', payer.participant.ispb);
    return this.creditFrom(tx, payer, { ...pix, endToEndId });
  }

  /** Credits a Pix that has its id already, whoever sent it. */
  async creditFrom(
    tx: Tx,
    payer: Party,
    pix: ArrivingPix,
  ): Promise<{ line: PostedLine; receipt: PixReceipt }> {
    const { account, amountCents, type, correlationId, endToEndId } = pix;
    const beneficiary = partyOfAccount(account);
    const description = pix.description ?? `Pix recebido de ${payer.holder.name}`;
    const [line] = await this.ledger.post(
      tx,
      outsideMovement(account, 'spi', amountCents, {
        typeName: 'CREDIT_PIX',
        notes: description,
        correlationId,
        endToEndId,
        proof: {
          endToEndId,
          status: 'PIX_EFFECTIVE',
          type,
          amount: wireReais(amountCents),
          description,
          payer,
          beneficiary,
        },
      }),
    );
    invariant(line, 'a credit has its line');
    const { createdAt } = line;
    const receipt = { endToEndId, amountCents, correlationId, createdAt, payer, beneficiary };
    await this.webhooks.notify(tx, account, 'PIX_RECEIVED', {
      body: pixReceivedBody(receipt),
      at: createdAt,
    });
    return { line, receipt };
  }
}
