import { buildBankSlip } from '../../brazil/bank-slip.js';
import { FIRST_DUE_DATE, LAST_DUE_DATE } from '../../brazil/due-date-factor.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { isComputable } from '../../bank-contract/charge-terms.js';
import type { ChargeRequest } from '../../bank-contract/charges.js';
import { bank, type SandboxAccount } from '../accounts/party.js';
import type { ModeValues } from '../modes/modes.schema.js';

const maxSlipCents = 9_999_999_999_999n;
/** The largest amount that field 54 of a BR Code can encode. */
export const maxQrCents = 999_999_999_999n;
const ourNumberDigits = 11;

const adjustmentFields = ['discount', 'lateFine', 'latePayment'] as const;

/** Errors of a request that this bank's modes do not allow, by JSON path. */
export function modeProblems(
  request: ChargeRequest,
  modes: Pick<ModeValues, 'adjustmentTypes' | 'slipAdjustments' | 'payerDocuments'>,
): Record<string, string[]> {
  const { adjustmentTypes, slipAdjustments, payerDocuments } = modes;
  const problems: Record<string, string[]> = {};
  for (const field of ['payer', 'finalBeneficiary'] as const) {
    const document = request[field]?.document;
    if (payerDocuments === 'checked' && document !== undefined && parseTaxId(document) === null)
      problems[`$.${field}.document`] = ['Must be a CPF or a CNPJ.'];
  }
  for (const field of adjustmentFields) {
    const type = request[field]?.type;
    if (type === undefined) continue;
    if (adjustmentTypes !== 'any' && !isComputable(type))
      problems[`$.${field}.type`] = ['Must be Fixed or Percentage.'];
    if (slipAdjustments !== 'any' && request.type === 'BANKSLIP')
      problems[`$.${field}`] = ['Must only be sent with BANKSLIP_PIX.'];
  }
  return problems;
}

/** Errors of a well-formed request that a slip of this bank cannot encode, by JSON path. */
export function slipProblems(request: ChargeRequest): Record<string, string[]> {
  const { type, dueDate, Amount: amount, ourNumber } = request;
  const problems: Record<string, string[]> = {};
  if (dueDate < FIRST_DUE_DATE || dueDate > LAST_DUE_DATE)
    problems['$.dueDate'] = [`Must be from ${FIRST_DUE_DATE} to ${LAST_DUE_DATE}.`];
  if (amount > (type === 'BANKSLIP' ? maxSlipCents : maxQrCents))
    problems['$.Amount'] = ['Is more than a charge of this type can encode.'];
  if (ourNumber && !/^[0-9]{1,11}$/.test(ourNumber))
    problems['$.ourNumber'] = [`Must be 1 to ${ourNumberDigits} digits.`];
  return problems;
}

export interface IssuedSlip {
  wallet: 112 | 121;
  ourNumber: string;
  barCode: string;
  digitableLine: string;
}

/**
 * Builds the slip of a request without problems. The bank's free field is branch (4), wallet (3),
 * our number (11) and account (7). Wallet 112 takes its number from `serial`, wallet 121 from the
 * request.
 */
export function issueSlip(
  account: SandboxAccount,
  request: Pick<ChargeRequest, 'ourNumber' | 'Amount' | 'dueDate'>,
  serial: bigint,
): IssuedSlip {
  const wallet = request.ourNumber ? 121 : 112;
  const ourNumber = request.ourNumber || String(serial).padStart(ourNumberDigits, '0');
  const freeField =
    account.branch + wallet + ourNumber.padStart(ourNumberDigits, '0') + account.number;
  const codes = buildBankSlip({
    bankCode: bank.code,
    amountCents: request.Amount,
    dueDate: request.dueDate,
    freeField,
  });
  return { wallet, ourNumber, ...codes };
}
