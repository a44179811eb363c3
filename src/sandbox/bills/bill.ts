import type { Adjustments } from '../../brazil/amount-owed.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { readAdjustments } from '../../contract/charge-terms.js';
import { invariant } from '../../platform/errors.js';
import { sha256 } from '../../platform/exact-json.js';
import type { BillStatus, FixtureBill } from '../accounts/fixtures.js';
import type { BankAccount } from '../accounts/party.js';
import { payerOf } from '../charges/charge-parts.js';
import type { ChargeRow } from '../charges/charges.queries.js';
import { defaultParties, ownIssuer, partyOfHolder, type BillParties } from './bill-parties.js';

/** A bill as it can be queried and paid: of another institution, or a slip that an account of this bank issued. */
export interface Bill extends BillParties {
  barCode: string;
  digitableLine: string;
  identifierNumber: string;
  type: 'BANKSLIP' | 'TAXES';
  status: BillStatus;
  amountCents: bigint;
  rebateCents: bigint;
  adjustments: Adjustments;
  dueDate: PlainDate;
  isAllowPartialPayment: boolean;
  minimumPaymentCents: bigint;
  maximumPaymentCents: bigint;
  /** The charge behind a slip of this bank, else null. */
  issued: { charge: ChargeRow; account: BankAccount } | null;
}

export interface BillRow extends FixtureBill {
  identifierNumber: string | null;
  rebateCents: bigint;
  /** JSON texts. */
  adjustments: string | null;
  parties: string | null;
}

/** A bill of another institution; what its row leaves open is the same at every query. */
export function billOfRow(row: BillRow): Bill {
  const named = row.parties === null ? {} : (JSON.parse(row.parties) as Partial<BillParties>);
  const { payer, beneficiary, issuer } = { ...defaultParties(row.barCode), ...named };
  return {
    ...row,
    identifierNumber: row.identifierNumber ?? identifierOf(row.barCode),
    adjustments: readAdjustments(row.adjustments),
    ...{ payer, beneficiary, issuer },
    issued: null,
  };
}

/** A slip of this bank; `words` are those by which its charge tells that it is paid, or void. */
export function billOfCharge(charge: ChargeRow, account: BankAccount): Bill {
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
    adjustments: readAdjustments(charge.adjustments),
    isAllowPartialPayment: false,
    minimumPaymentCents: amountCents,
    maximumPaymentCents: amountCents,
    payer: { document: payer, name: name ?? '', type: parseTaxId(payer)?.kind ?? 'NATURAL' },
    beneficiary: { ...partyOfHolder(account), fantasyName: account.holderName },
    issuer: ownIssuer,
    issued: { charge, account },
  };
}

function statusOf(status: ChargeRow['status']): BillStatus {
  if (status === 'Paid') return 'PAID';
  return status === 'Voided' ? 'BLOCKED_PAYMENT' : 'PENDING_PAYMENT';
}

const identifierDigits = 19;

/** The number under which a register of slips would know the bill: nineteen digits, its own for each code. */
function identifierOf(barCode: string): string {
  const number = BigInt(`0x${sha256(barCode)}`) % 10n ** BigInt(identifierDigits);
  return String(number).padStart(identifierDigits, '0');
}
