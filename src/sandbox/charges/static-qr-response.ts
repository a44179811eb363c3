import type { StaticQrResponse } from '../../bank-contract/static-qr.js';
import { invariant } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import type { ChargeRow } from './charges.queries.js';

/** A static QR code in the shape of the contract. Its id is the txid in the payload. */
export function buildStaticQrResponse(
  account: SandboxAccount,
  charge: Omit<ChargeRow, 'answer'>,
  base64Image: string,
): StaticQrResponse {
  const { amountCents, pixKey, txid, qrCode } = charge;
  invariant(pixKey && txid && qrCode, 'a QR code has its key, its txid and its payload');
  return {
    transactionId: txid,
    correlationId: charge.correlationId,
    ...(amountCents === null ? {} : { amount: amountCents }),
    pixKey,
    beneficiaryName: account.holderName,
    address: {
      cityName: account.city,
      zipCode: account.zipCode,
      uf: account.state,
      state: account.state,
      street: account.street,
    },
    additionalInfo: charge.additionalInformation,
    createdAt: charge.createdAt.toISOString(),
    payloadPix: qrCode,
    base64Image,
  };
}
