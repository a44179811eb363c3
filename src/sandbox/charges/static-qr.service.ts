// Creates static QR codes, the payload that a payer's bank reads and its image, and reads them with
// their payments.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { parsePixKey } from '../../brazil/pix-key.js';
import {
  createStaticQr,
  getStaticQr,
  type StaticQrDetails,
  type StaticQrPayment,
} from '../../bank-contract/static-qr.js';
import type { Reply } from '../../platform/http/contract-route.js';
import { AppError, invalidField, ruleBroken } from '../../platform/errors.js';
import { canonicalJson, parseJson, sha256 } from '../../platform/json/exact-json.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { AccountRequest } from '../accounts/api-key.guard.js';
import type { SandboxAccount } from '../accounts/party.js';
import { Idempotency } from '../idempotency/idempotency.service.js';
import { Modes } from '../modes/modes.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { responseText } from '../wire-values.js';
import { ChargeIssuance, type NewCharge } from './charge-issuance.service.js';
import { staticQrOf } from './charge-parts.js';
import { chargeStatusName } from './charge-response.js';
import { findStaticQr, listChargePayments, type ChargeRow } from './charges.queries.js';
import { maxQrCents } from './issued-slip.js';
import { buildStaticQrResponse } from './static-qr-response.js';

@Injectable()
export class StaticQrCodes {
  constructor(
    private readonly accounts: Accounts,
    private readonly issuance: ChargeIssuance,
    private readonly idempotency: Idempotency,
    private readonly database: SandboxDatabase,
    private readonly modes: Modes,
  ) {}

  /** A repeat of the key or of the body gets the same response. */
  async create(input: AccountRequest<typeof createStaticQr>): Promise<Reply> {
    const { account, body: request } = input;
    const pixKey = await this.ownPixKey(account, request.pixKey);
    if (request.amount && request.amount > maxQrCents)
      throw invalidField('$.amount', 'Is more than a QR code can encode.');
    const { correlationId, amount: amountCents = null } = request;
    const information = request.additionalInformation ?? request.additionalInfo ?? null;
    const charge = {
      type: 'PIX_STATIC',
      status: 'Created',
      amountCents,
      ...staticQrOf(account, pixKey, { correlationId, amountCents }, information ?? ''),
      description: request.description ?? null,
      additionalInformation: information,
    } satisfies NewCharge;
    const identity = { correlationId, bodyHash: sha256(canonicalJson(request)) };
    return this.idempotency.runOnce(createStaticQr, input, (tx) =>
      this.issuance.issueOnce(
        tx,
        account,
        identity,
        () => charge,
        async (issued) => {
          // Loaded when a QR code is first requested: an image library delays no start.
          const { default: QRCode } = await import('qrcode');
          const base64Image = await QRCode.toDataURL(charge.qrCode, { errorCorrectionLevel: 'M' });
          return responseText(createStaticQr, buildStaticQrResponse(account, issued, base64Image));
        },
      ),
    );
  }

  /** As it was created, with its status. Throws `not_found`. */
  async get(account: SandboxAccount, identifier: string): Promise<StaticQrDetails> {
    const charge = await this.find(account, identifier);
    const created = z.decode(getStaticQr.response, parseJson(charge.answer) as never);
    return { ...created, status: chargeStatusName(charge.status, this.modes.current.chargeStatus) };
  }

  /** Newest first. Throws `not_found`. */
  async listPayments(account: SandboxAccount, identifier: string): Promise<StaticQrPayment[]> {
    const { correlationId } = await this.find(account, identifier);
    const payments = await listChargePayments(this.database, account.id, [correlationId]);
    return payments.map(({ nsu, changeCents: amount, endToEndId, createdAt }) => ({
      ...{ nsu, amount, endToEndId, createdAt: createdAt.toISOString() },
    }));
  }

  private async find({ id }: SandboxAccount, identifier: string): Promise<ChargeRow> {
    const charge = await findStaticQr(this.database, id, identifier);
    if (!charge) throw new AppError('not_found');
    return charge;
  }

  private async ownPixKey(
    account: SandboxAccount,
    requestedKey: string | null | undefined,
  ): Promise<string> {
    if (!requestedKey) return this.accounts.getDefaultPixKey(account);
    const owner = await this.accounts.findByPixKey(requestedKey);
    const pixKey = parsePixKey(requestedKey);
    if (owner?.id !== account.id || !pixKey)
      throw ruleBroken('pix_key_not_of_account', 'The Pix key does not belong to this account.');
    return pixKey.key;
  }
}
