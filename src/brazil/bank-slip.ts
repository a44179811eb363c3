import { type PlainDate } from './calendar.js';
import { bankSlipMod11CheckDigit, mod10CheckDigit } from './check-digit.js';
import { dueDateOfFactor, factorOfDueDate, possibleDueDates } from './due-date-factor.js';

export interface BankSlip {
  /** 44 digits, as printed in bars. */
  barCode: string;
  /** The same slip in the 47 digits that people type, without its mask. */
  digitableLine: string;
  /** Three digits (COMPE); '988' stands for every institution that has only an ISPB. */
  bankCode: string;
  /** 0n when the code leaves the amount open; null when the code has no place for an amount. */
  amountCents: bigint | null;
  /** Null when the code carries none, or when no reference date was given to tell it by. */
  dueDate: PlainDate | null;
  /** The two days the code can mean, 9,000 days apart; empty when it carries no due date. */
  possibleDueDates: PlainDate[];
  /** The issuer's ISPB where the code carries it in the amount's place (bank 988), else null. */
  issuerIspb: string | null;
  /** 25 digits whose meaning is the issuing bank's own. */
  freeField: string;
}

export type ParsedBankSlip =
  | { ok: true; slip: BankSlip }
  | { ok: false; reason: 'malformed' | 'utility_bill' | 'wrong_check_digit' | 'unknown_currency' };

export interface BankSlipFields {
  /** Three digits; the first is not 8, which would make the code a utility bill's. */
  bankCode: string;
  /** 0n leaves the amount open. Up to 99,999,999,999.99 reais. */
  amountCents: bigint;
  /** Left out of the code above 99,999,999.99 reais, where the amount takes its place. */
  dueDate: PlainDate | null;
  /** 25 digits. */
  freeField: string;
}

/** Longer than any mask of 47 digits; keeps pasted books from being read at all. */
const MAX_TEXT = 100;
const MAX_AMOUNT_CENTS = 9_999_999_999_999n;
const MAX_AMOUNT_CENTS_BESIDE_FACTOR = 9_999_999_999n;

/** Throws RangeError on fields that no slip can carry. */
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
 * A factor names two days 9,000 apart, so `dueDate` is given only beside a `referenceDate` (a valid
 * plain date, say the day of reading). For a registered slip the bank's own due date wins over it.
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
  // Field digits are not in the bar code: writing the line anew is how they are checked.
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

/** The 47 digits for a bar code; RangeError when it is not 44 digits of a bank slip. */
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

/** Null when the currency digit is neither real (9) nor the one form that carries no money (0). */
function readMoney(
  barCode: string,
  referenceDate: PlainDate | undefined,
): Pick<BankSlip, 'amountCents' | 'dueDate' | 'possibleDueDates' | 'issuerIspb'> | null {
  const currency = barCode[3];
  const value = barCode.slice(5, 19);
  const noDueDate = { dueDate: null, possibleDueDates: [] };
  // FB-0061/2021 "Situação 2": the ISPB, zero-padded, where the amount would be: never money.
  if (barCode.startsWith('9880') && value.startsWith('000000')) {
    return { ...noDueDate, amountCents: null, issuerIspb: value.slice(6) };
  }
  if (currency !== '9') return null;
  // A first digit of zero means that all fourteen digits are the amount.
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
