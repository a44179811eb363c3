import type { StaticQrResponse } from '../../contract/static-qr.js';
import { invariant } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';
import type { ChargeRow } from './charges.queries.js';

/** A static QR code as it is told; its id is the txid that the payload carries. */
export function staticQrAnswer(
  account: BankAccount,
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
