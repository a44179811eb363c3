import { parseBankSlip } from './bank-slip.js';
import { parseUtilityBill } from './utility-bill.js';

/** The code of a bill: of a bank slip, or of a tax or utility bill. */
export interface BillCode {
  type: 'BANKSLIP' | 'TAXES';
  /** 44 digits. They identify the bill, in whichever form its code was entered. */
  barCode: string;
  /** 47 digits of a bank slip, 48 digits of a tax or utility bill. */
  digitableLine: string;
  /** The ISPB that a slip of bank 988 holds instead of an amount, else null. */
  issuerIspb: string | null;
}

export type ParsedBillCode =
  | { ok: true; code: BillCode }
  | { ok: false; reason: 'malformed' | 'wrong_check_digit' | 'unknown_currency' };

const PUNCTUATION = /[.\-\s]/g;
const MAX_TEXT = 100;

/** Parses a bar code or a digitable line of either kind, with or without punctuation. */
export function parseBillCode(text: string): ParsedBillCode {
  if (text.length > MAX_TEXT) return { ok: false, reason: 'malformed' };
  const digits = text.replaceAll(PUNCTUATION, '');
  // The code of a tax or utility bill begins with 8. That of a bank slip does not.
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
export function hasBarCodeLength(text: string): boolean {
  return text.replaceAll(PUNCTUATION, '').length === 44;
}

/** Null unless the text is a valid bar code or digitable line. */
export function findBarCode(text: string): string | null {
  const parsed = parseBillCode(text);
  return parsed.ok ? parsed.code.barCode : null;
}
