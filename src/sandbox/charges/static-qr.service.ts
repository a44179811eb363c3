// Makes static QR codes: the payload that a payer's bank reads, and its picture.
import { Injectable } from '@nestjs/common';
import QRCode from 'qrcode';
import { z } from 'zod';
import { additionalInformationSpace, buildStaticBrCode } from '../../brazil/br-code.js';
import { foldToAscii } from '../../brazil/br-code-fields.js';
import { parsePixKey } from '../../brazil/pix-key.js';
import { txidOfCorrelationId } from '../../brazil/static-txid.js';
import { createStaticQr, type StaticQrRequest } from '../../contract/static-qr.js';
import { AppError } from '../../platform/errors.js';
import { canonicalJson, sha256, stringifyJson } from '../../platform/exact-json.js';
import { Accounts } from '../accounts/accounts.service.js';
import type { BankAccount } from '../accounts/party.js';
import { Idempotency } from '../idempotency.service.js';
import { SandboxDatabase } from '../sandbox-database.service.js';
import { ChargeBook, type NewCharge } from './charge-book.service.js';
import { maxQrCents } from './issued-slip.js';
import { staticQrAnswer } from './static-qr-answer.js';

@Injectable()
export class StaticQrCodes {
  constructor(
    private readonly database: SandboxDatabase,
    private readonly accounts: Accounts,
    private readonly book: ChargeBook,
    private readonly idempotency: Idempotency,
  ) {}

  /** The text of the answer; the same one for a repeat of the key, and for a repeat of the body. */
  async create(account: BankAccount, request: StaticQrRequest, key: string): Promise<string> {
    const pixKey = await this.ownPixKey(account, request.pixKey);
    const information = informationOf(request, pixKey);
    if (request.amount && request.amount > maxQrCents)
      throw new AppError('validation_failed', {
        errors: { '$.amount': ['Is more than a QR code can carry.'] },
      });
    const txid = txidOfCorrelationId(request.correlationId);
    const qrCode = buildStaticBrCode({
      pixKey,
      txid,
      merchantName: account.holderName,
      merchantCity: account.city,
      additionalInformation: information,
      ...(request.amount ? { amountCents: request.amount } : {}),
    });
    const bodyHash = sha256(canonicalJson(request));
    const charge: NewCharge = {
      type: 'PIX_STATIC',
      status: 'Created',
      amountCents: request.amount ?? null,
      pixKey,
      txid,
      qrCode,
      description: request.description ?? null,
      additionalInformation: request.additionalInformation ?? request.additionalInfo ?? null,
    };
    const identity = { correlationId: request.correlationId, bodyHash };
    return this.database.transaction((tx) =>
      this.idempotency.once(
        tx,
        { accountId: account.id, operation: createStaticQr.name, key, bodyHash },
        () =>
          this.book.issueOnce(
            tx,
            account,
            identity,
            () => charge,
            async (issued) => {
              const base64Image = await QRCode.toDataURL(qrCode, { errorCorrectionLevel: 'M' });
              const answer = staticQrAnswer(account, issued, base64Image);
              return stringifyJson(z.encode(createStaticQr.response, answer));
            },
          ),
      ),
    );
  }

  private async ownPixKey(account: BankAccount, asked: string | null | undefined): Promise<string> {
    if (!asked) return this.accounts.getDefaultPixKey(account);
    const owner = await this.accounts.findByPixKey(asked);
    const pixKey = parsePixKey(asked);
    if (owner?.id !== account.id || !pixKey)
      throw new AppError('rule_broken', {
        public: 'The Pix key is not one of this account.',
        reason: 'pix_key_not_of_account',
      });
    return pixKey.key;
  }
}

/** Field 26 is shared by key and information: what does not fit is refused, never cut. */
function informationOf(request: StaticQrRequest, pixKey: string): string {
  const field = request.additionalInfo ? 'additionalInfo' : 'additionalInformation';
  const information = foldToAscii(request[field] ?? '');
  const room = additionalInformationSpace(pixKey);
  if (information.length <= room) return information;
  throw new AppError('validation_failed', {
    errors: { [`$.${field}`]: [`At most ${room} characters fit beside this Pix key.`] },
  });
}
