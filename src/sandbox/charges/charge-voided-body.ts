import { parseJson } from '../../platform/exact-json.js';
import { wireInteger, wireReais } from '../wire-values.js';
import type { PaidSlip } from './charge-bodies.js';

export interface VoidedCharge {
  id: bigint;
  correlationId: string;
  type: string;
  status: string;
  amountCents: bigint | null;
  /** JSON text. */
  payer: string | null;
  txid: string | null;
  qrCode: string | null;
  updatedAt: Date;
  account: { branch: string; number: string };
  slip: PaidSlip;
  additionalInfo: { key: string; value: string }[];
}

/**
 * `CHARGE_VOIDED`: without `eventType`, shaped like the bank's internal record (real-bank.md A.4).
 */
export function chargeVoidedBody(charge: VoidedCharge): object {
  const { slip, txid, qrCode, additionalInfo, amountCents } = charge;
  const chargeId = wireInteger(charge.id);
  const { branch, number } = charge.account;
  return {
    id: chargeId,
    bankAccount: { branch, number },
    correlationId: charge.correlationId,
    type: charge.type,
    amount: amountCents === null ? null : wireReais(amountCents),
    dueDate: slip.dueDate,
    dueDateBrazil: slip.dueDate,
    status: charge.status,
    updatedAt: charge.updatedAt.toISOString(),
    payers: charge.payer === null ? [] : [parseJson(charge.payer)],
    pix: qrCode && { chargeId, identifier: txid, qrCode, additionalInfo },
    bankslip: slip.barCode && {
      chargeId,
      walletNumber: slip.walletNumber,
      yourNumber: slip.yourNumber,
      ourNumber: slip.ourNumber,
      barCode: slip.barCode,
      digitableLine: slip.digitableLine,
    },
  };
}
