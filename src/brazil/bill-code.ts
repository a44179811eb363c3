import { parseBankSlip } from './bank-slip.js';
import { parseUtilityBill } from './utility-bill.js';

/** A bill as its code names it: a bank slip, or a bill of taxes and utilities. */
export interface BillCode {
  type: 'BANKSLIP' | 'TAXES';
  /** 44 digits, by which a bill is one however it is written. */
  barCode: string;
  /** 47 digits on a slip, 48 on a bill of taxes and utilities. */
  digitableLine: string;
  /** The ISPB that a slip of bank 988 carries in place of an amount, else null. */
  issuerIspb: string | null;
}

export type ParsedBillCode =
  | { ok: true; code: BillCode }
  | { ok: false; reason: 'malformed' | 'wrong_check_digit' | 'unknown_currency' };

const PUNCTUATION = /[.\-\s]/g;
const MAX_TEXT = 100;

/** Reads a bar code or a digitable line of either kind, with or without its punctuation. */
export function parseBillCode(text: string): ParsedBillCode {
  if (text.length > MAX_TEXT) return { ok: false, reason: 'malformed' };
  const digits = text.replaceAll(PUNCTUATION, '');
  // An 8 at the beginning is what tells a bill of taxes and utilities from a slip.
  if (digits.startsWith('8')) {
    const parsed = parseUtilityBill(digits);
    if (!parsed.ok) return parsed;
    const { barCode, digitableLine } = parsed.bill;
    return { ok: true, code: { type: 'TAXES', barCode, digitableLine, issuerIspb: null } };
  }
  const parsed = parseBankSlip(digits);
  if (!parsed.ok)
    return {
      ok: false,
      reason: parsed.reason === 'utility_bill' ? 'malformed' : parsed.reason,
    };
  const { barCode, digitableLine, issuerIspb } = parsed.slip;
  return { ok: true, code: { type: 'BANKSLIP', barCode, digitableLine, issuerIspb } };
}

/** Whether a text has the length of a bar code, and not of a digitable line. */
export function isBarCodeLong(text: string): boolean {
  return text.replaceAll(PUNCTUATION, '').length === 44;
}
