import { type PlainDate } from './calendar.js';
import { bankSlipMod11CheckDigit, mod10CheckDigit } from './check-digit.js';
import { dueDateOfFactor, factorOfDueDate, possibleDueDates } from './due-date-factor.js';

export interface BankSlip {
  /** 44 digits, as printed in bars. */
  barCode: string;
  /** The 47 digits that people type, without dots and spaces. */
  digitableLine: string;
  /** The three-digit COMPE code. '988' is for every institution that has only an ISPB. */
  bankCode: string;
  /**
   * 0n when the amount is open. Null when the code holds the issuer's ISPB instead of an amount.
   */
  amountCents: bigint | null;
  /** Null when the code has no due date, or when it was parsed without a reference date. */
  dueDate: PlainDate | null;
  /** The two days that the code can mean, 9,000 days apart. Empty when it has no due date. */
  possibleDueDates: PlainDate[];
  /** The issuer's ISPB if the code holds it instead of an amount (bank 988), else null. */
  issuerIspb: string | null;
  /** 25 digits. The issuing bank defines their meaning. */
  freeField: string;
}

export type ParsedBankSlip =
  | { ok: true; slip: BankSlip }
  | { ok: false; reason: 'malformed' | 'utility_bill' | 'wrong_check_digit' | 'unknown_currency' };

export interface BankSlipFields {
  /** Three digits. The first must not be 8, with which the codes of utility bills begin. */
  bankCode: string;
  /** 0n for an open amount. The maximum is 99,999,999,999.99 reais. */
  amountCents: bigint;
  /**
   * Above 99,999,999.99 reais, the amount uses the digits of the due date, which is then left out.
   */
  dueDate: PlainDate | null;
  /** 25 digits. */
  freeField: string;
}

/** Longer than any formatted digitable line. Longer texts are rejected without parsing. */
const MAX_TEXT = 100;
const MAX_AMOUNT_CENTS = 9_999_999_999_999n;
const MAX_AMOUNT_CENTS_BESIDE_FACTOR = 9_999_999_999n;

/** Throws RangeError for fields that a slip cannot hold. */
export function buildBankSlip(fields: BankSlipFields): { barCode: string; digitableLine: string } {
  const { bankCode, amountCents, dueDate, freeField } = fields;
  if (!/^[0-79][0-9]{2}$/.test(bankCode)) throw new RangeError(`not a bank code: ${bankCode}`);
  if (!/^[0-9]{25}$/.test(freeField)) throw new RangeError('the free field has 25 digits');
  if (amountCents < 0n || amountCents > MAX_AMOUNT_CENTS) {
    throw new RangeError(`a bank slip cannot carry ${amountCents} cents`);
  }
  const isFactorDisplaced = amountCents > MAX_AMOUNT_CENTS_BESIDE_FACTOR;
  const factor = dueDate === null ? '0000' : factorOfDueDate(dueDate);
  const value = isFactorDisplaced
    ? String(amountCents).padStart(14, '0')
    : factor + String(amountCents).padStart(10, '0');
  const head = `${bankCode}9`;
  const tail = value + freeField;
  const barCode = `${head}${bankSlipMod11CheckDigit(head + tail)}${tail}`;
  return { barCode, digitableLine: bankSlipDigitableLine(barCode) };
}

/**
 * Reads a 44-digit bar code or a 47-digit digitable line (dots and spaces allowed).
 *
 * A due date factor means two days, 9,000 days apart. So `dueDate` is set only with a
 * `referenceDate`, for example the current day. The due date that the bank reports for a
 * registered slip takes precedence.
 */
export function parseBankSlip(barCodeOrLine: string, referenceDate?: PlainDate): ParsedBankSlip {
  if (barCodeOrLine.length > MAX_TEXT) return { ok: false, reason: 'malformed' };
  const digits = barCodeOrLine.replaceAll(/[.\s]/g, '');
  if (!/^(?:[0-9]{44}|[0-9]{47,48})$/.test(digits)) return { ok: false, reason: 'malformed' };
  if (digits.startsWith('8')) return { ok: false, reason: 'utility_bill' };
  if (digits.length === 48) return { ok: false, reason: 'malformed' };

  const barCode = digits.length === 44 ? digits : barCodeOfLine(digits);
  const digitableLine = bankSlipDigitableLine(barCode);
  const isGeneralDigitRight =
    Number(barCode[4]) === bankSlipMod11CheckDigit(barCode.slice(0, 4) + barCode.slice(5));
  // The bar code does not hold the check digits of the fields, so the line is built again to
  // compare.
  const areFieldDigitsRight = digits.length === 44 || digits === digitableLine;
  if (!isGeneralDigitRight || !areFieldDigitsRight) {
    return { ok: false, reason: 'wrong_check_digit' };
  }

  const money = readMoney(barCode, referenceDate);
  if (money === null) return { ok: false, reason: 'unknown_currency' };
  const bankCode = barCode.slice(0, 3);
  return {
    ok: true,
    slip: { barCode, digitableLine, bankCode, ...money, freeField: barCode.slice(19) },
  };
}

/**
 * The digitable line of a bar code. Throws RangeError unless it has the 44 digits of a bank slip.
 */
export function bankSlipDigitableLine(barCode: string): string {
  if (!/^[0-79][0-9]{43}$/.test(barCode)) throw new RangeError('not the bar code of a bank slip');
  const freeField = barCode.slice(19);
  const fields = [
    barCode.slice(0, 4) + freeField.slice(0, 5),
    freeField.slice(5, 15),
    freeField.slice(15),
  ];
  const checked = fields.map((field) => field + mod10CheckDigit(field)).join('');
  return checked + barCode.slice(4, 19);
}

/** As printed: 'AAABC.CCCCX DDDDD.DDDDDY EEEEE.EEEEEZ K UUUUVVVVVVVVVV'. */
export function formatDigitableLine(digitableLine: string): string {
  const fields = /^(.{5})(.{5})(.{5})(.{6})(.{5})(.{6})(.)(.{14})$/.exec(digitableLine);
  if (fields === null) throw new RangeError('the digitable line of a bank slip has 47 digits');
  const [, a, b, c, d, e, f, k, value] = fields;
  return `${a}.${b} ${c}.${d} ${e}.${f} ${k} ${value}`;
}

function barCodeOfLine(line: string): string {
  const freeField = line.slice(4, 9) + line.slice(10, 20) + line.slice(21, 31);
  return line.slice(0, 4) + line.slice(32) + freeField;
}

/** Null unless the currency digit is 9 (real), or 0 in the form that has no amount. */
function readMoney(
  barCode: string,
  referenceDate: PlainDate | undefined,
): Pick<BankSlip, 'amountCents' | 'dueDate' | 'possibleDueDates' | 'issuerIspb'> | null {
  const currency = barCode[3];
  const value = barCode.slice(5, 19);
  const noDueDate = { dueDate: null, possibleDueDates: [] };
  // FB-0061/2021 "Situação 2": the zero-padded ISPB is where the amount would be. It is not money.
  if (barCode.startsWith('9880') && value.startsWith('000000')) {
    return { ...noDueDate, amountCents: null, issuerIspb: value.slice(6) };
  }
  if (currency !== '9') return null;
  // If the first digit is zero, all fourteen digits are the amount.
  if (value.startsWith('0')) {
    return { ...noDueDate, amountCents: BigInt(value), issuerIspb: null };
  }
  const factor = value.slice(0, 4);
  return {
    amountCents: BigInt(value.slice(4)),
    dueDate: referenceDate === undefined ? null : dueDateOfFactor(factor, referenceDate),
    possibleDueDates: possibleDueDates(factor),
    issuerIspb: null,
  };
}
