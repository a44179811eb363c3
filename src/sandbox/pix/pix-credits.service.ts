// Credits a received Pix from another institution or from an account of this bank. The movement
// with its proof and the webhook delivery are written in one database transaction. Also creates the
// ids of payments and returns.
import { Injectable } from '@nestjs/common';
import { buildEndToEndId, type EndToEndId } from '../../brazil/end-to-end-id.js';
import { BankClock } from '../clock/bank-clock.service.js';
import { SandboxLedger } from '../ledger/ledger.service.js';
import { outsideMovement, type PostedLine } from '../ledger/movement.js';
import { Modes } from '../modes/modes.service.js';
import { Random } from '../random.service.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import { pixReceivedBody, type PixReceipt } from './pix-bodies.js';
import { Webhooks } from '../webhooks/webhooks.service.js';
import { wireReais } from '../wire-values.js';
import {
  type SandboxAccount,
  type OutsidePayer,
  type Party,
  partyOfAccount,
  outsideParty,
} from '../accounts/party.js';

/** How the payer addressed the Pix. */
export type PixType = 'PIX_QR_CODE_STATIC' | 'PIX_KEY' | 'PIX_MANUAL';

interface PixToAccount {
  account: SandboxAccount;
  amountCents: bigint;
  type: PixType;
  correlationId: string | null;
}

export interface IncomingPix extends PixToAccount {
  payer: OutsidePayer;
}

export interface ArrivingPix extends PixToAccount {
  endToEndId: string;
  /** The payer's text; without one the bank writes its own. */
  description?: string | null;
}

@Injectable()
export class EndToEndIds {
  constructor(
    private readonly clock: BankClock,
    private readonly random: Random,
    private readonly modes: Modes,
  ) {}

  /** The id of a refund or return, by the mode `refundEndToEndId`. */
  ofRefund(ispb: string, originalEndToEndId: string): string {
    const isOwn = this.modes.current.refundEndToEndId === 'own';
    return isOwn ? this.next('D', ispb) : originalEndToEndId;
  }

  /** A new id of the institution: `E` begins the id of a payment, `D` begins the id of a return. */
  next(kind: EndToEndId['kind'], ispb: string): string {
    const sequence = this.random.alphanumeric(11);
    return buildEndToEndId({ kind, ispb, at: this.clock.now(), sequence });
  }
}

@Injectable()
export class PixCredits {
  constructor(
    private readonly ledger: SandboxLedger,
    private readonly webhooks: Webhooks,
    private readonly ids: EndToEndIds,
  ) {}

  async credit(
    tx: SandboxTx,
    pix: IncomingPix,
  ): Promise<{ line: PostedLine; receipt: PixReceipt }> {
    const payer = outsideParty(pix.payer);
    const endToEndId = this.ids.next('E', payer.participant.ispb);
    return this.creditFrom(tx, payer, { ...pix, endToEndId });
  }

  /** Credits a Pix that already has an id, from any payer. */
  async creditFrom(
    tx: SandboxTx,
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
    const { createdAt } = line;
    const receipt = { endToEndId, amountCents, correlationId, createdAt, payer, beneficiary };
    this.webhooks.notify(tx, account, 'PIX_RECEIVED', {
      body: pixReceivedBody(receipt),
      at: createdAt,
    });
    return { line, receipt };
  }
}
