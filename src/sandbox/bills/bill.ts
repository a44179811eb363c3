import type { Adjustments } from '../../brazil/amount-owed.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import type { billStatuses } from '../../bank-contract/bill-payments.js';
import { parseAdjustments } from '../../bank-contract/charge-terms.js';
import type { Bill as BillTable } from '../../generated/sandbox/client.js';
import { invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { holderOf, type SandboxAccount } from '../accounts/party.js';
import { payerOf } from '../charges/charge-parts.js';
import type { ChargeRow } from '../charges/charges.queries.js';
import { defaultParties, ownIssuer, type BillParties } from './bill-parties.js';

export type BillStatus = (typeof billStatuses)[number];

export interface BillRow extends Omit<BillTable, 'dueDate'> {
  type: 'BANKSLIP' | 'TAXES';
  status: BillStatus;
  dueDate: PlainDate;
  /** Read by `parseAdjustments`. */
  adjustments: string | null;
  /** The parties that the bill names. */
  parties: Partial<BillParties> | null;
}

/**
 * A bill that can be queried and paid: of another institution, or a slip issued by an account of
 * this bank.
 */
export interface Bill extends Omit<BillRow, 'adjustments' | 'parties'>, BillParties {
  identifierNumber: string;
  adjustments: Adjustments;
  /** The charge and account of a slip of this bank; null for other institutions. */
  issuedSlip: { charge: ChargeRow; account: SandboxAccount } | null;
}

/** A bill of another institution. Fields that its row does not have get fixed defaults. */
export function billOfRow(row: BillRow): Bill {
  return {
    ...row,
    identifierNumber: row.identifierNumber ?? identifierOf(row.barCode),
    adjustments: parseAdjustments(row.adjustments),
    ...defaultParties(row.barCode),
    ...row.parties,
    issuedSlip: null,
  };
}

/** A slip of this bank, with the status derived from its charge. */
export function billOfCharge(charge: ChargeRow, account: SandboxAccount): Bill {
  const { barCode, digitableLine, amountCents, dueDate } = charge;
  invariant(barCode && digitableLine && amountCents && dueDate, 'a slip has its fields');
  const { name, document } = payerOf(charge);
  const payer = document ?? '';
  return {
    ...{ barCode, digitableLine, amountCents, dueDate },
    identifierNumber: identifierOf(barCode),
    type: 'BANKSLIP',
    status: statusOf(charge.status),
    rebateCents: 0n,
    adjustments: parseAdjustments(charge.adjustments),
    isAllowPartialPayment: false,
    minimumPaymentCents: amountCents,
    maximumPaymentCents: amountCents,
    payer: { document: payer, name: name ?? '', type: parseTaxId(payer)?.kind ?? 'NATURAL' },
    beneficiary: { ...holderOf(account), fantasyName: account.holderName },
    issuer: ownIssuer,
    issuedSlip: { charge, account },
  };
}

function statusOf(status: ChargeRow['status']): BillStatus {
  if (status === 'Paid') return 'PAID';
  return status === 'Voided' ? 'BLOCKED_PAYMENT' : 'PENDING_PAYMENT';
}

const identifierDigits = 19;

/** The bill's number in the central register: here nineteen digits derived from the bar code. */
function identifierOf(barCode: string): string {
  const number = BigInt(`0x${sha256(barCode)}`) % 10n ** BigInt(identifierDigits);
  return String(number).padStart(identifierDigits, '0');
}
