// Reads who paid, or was paid, in a webhook. It is shown where the statement does not say it, and
// decides nothing.
import {
  fieldOf,
  readParty,
  readText,
  type PaymentParty,
} from '../../access/counterparties/party.js';
import { readWebhookFields } from './webhook-body.js';

export interface ReportedParty extends PaymentParty {
  /** Whether it is the payer of a credit, or the beneficiary of a debit. */
  isCredit: boolean;
  message: string | null;
}

/** Event types of money that came in. In both directions, the bank names both parties. */
const credits: ReadonlySet<string> = new Set([
  'CHARGE_PAID',
  'CHARGE_PAID_V2',
  'PIX_RECEIVED',
  'PIX_REFUNDED',
  'TRANSFER_INTERNAL_CREDITED',
  'TRANSFER_EXTERNAL_CREDITED',
]);
const debits: ReadonlySet<string> = new Set([
  'PIX_PAYMENT_UPDATED',
  'PIX_PAYMENT_EFFECTIVE',
  'PIX_REFUND_PAYMENT_UPDATED',
  'PIX_REFUND_PAYMENT_EFFECTIVE',
  'PIX_TRANSFERRED',
  'TRANSFER_INTERNAL_DEBITED',
  'TRANSFER_EXTERNAL_DEBITED',
]);

/** Whether webhooks of this type report a credit; null where the direction is not known. */
export function isCreditReported(eventType: string): boolean | null {
  if (credits.has(eventType)) return true;
  return debits.has(eventType) ? false : null;
}

/**
 * Null for an event type whose direction is not known, and where the body names nobody. The parties
 * of the proof come first: the payer beside it may be the one that the charge was issued to.
 */
export function readReportedParty(eventType: string, body: Uint8Array): ReportedParty | null {
  const isCredit = isCreditReported(eventType);
  if (isCredit === null) return null;
  const fields = readWebhookFields(body);
  const proof = fieldOf(fields, 'proof');
  const names = isCredit ? ['payer'] : ['beneficiary', 'payee'];
  const parties = [proof, fields].flatMap((place) =>
    names.map((name) => readParty(fieldOf(place, name))),
  );
  const party = parties.find(({ name, taxId, account }) => name ?? taxId ?? account);
  if (!party) return null;
  const message =
    readText(fieldOf(proof, 'description')) ?? readText(fieldOf(fields, 'description'));
  return { ...party, isCredit, message };
}
