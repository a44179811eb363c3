import { mod10CheckDigit, utilityBillMod11CheckDigit } from './check-digit.js';

/**
 * The kind of issuer, position 2. 0 and 8 do not exist. 9 is for use by banks (FEBRABAN layout
 * v07/v08).
 */
const SEGMENTS = {
  1: 'CITY_HALL',
  2: 'WATER',
  3: 'ENERGY',
  4: 'TELECOM',
  5: 'GOVERNMENT',
  6: 'OTHER_COMPANY',
  7: 'TRAFFIC_FINE',
  9: 'BANK_USE',
} as const;
export type UtilityBillSegment = (typeof SEGMENTS)[keyof typeof SEGMENTS];
const SEGMENT_BY_DIGIT = new Map<string, UtilityBillSegment>(Object.entries(SEGMENTS));

/** The unit of the eleven value digits: centavos, or units of an index. */
export type UtilityBillValueKind = 'REAIS' | 'QUANTITY';

export interface UtilityBillFields {
  segment: UtilityBillSegment;
  valueKind: UtilityBillValueKind;
  /** The modulus of the general check digit and of the four block check digits. */
  modulus: 10 | 11;
  /** Centavos or a quantity, by `valueKind`. Up to eleven digits. */
  value: bigint;
  /**
   * Four digits that FEBRABAN assigns. In OTHER_COMPANY, the eight digits of the company's CNPJ
   * root.
   */
  companyCode: string;
  /**
   * Digits that the company defines: 25, or 21 in OTHER_COMPANY. Some companies put a due date
   * here.
   */
  freeField: string;
}

export interface UtilityBill extends UtilityBillFields {
  /** 44 digits. */
  barCode: string;
  /** 48 digits: four blocks of eleven digits, each with its check digit. */
  digitableLine: string;
  /** The value in centavos. Null for a quantity, which must never be paid as centavos. */
  amountCents: bigint | null;
}

export type ParsedUtilityBill =
  { ok: true; bill: UtilityBill } | { ok: false; reason: 'malformed' | 'wrong_check_digit' };

const MAX_TEXT = 100;
const MAX_VALUE = 99_999_999_999n;

const VALUE_IDS = new Map<string, Pick<UtilityBillFields, 'valueKind' | 'modulus'>>([
  ['6', { valueKind: 'REAIS', modulus: 10 }],
  ['7', { valueKind: 'QUANTITY', modulus: 10 }],
  ['8', { valueKind: 'REAIS', modulus: 11 }],
  ['9', { valueKind: 'QUANTITY', modulus: 11 }],
]);

/** Throws RangeError for fields that a bill cannot hold. */
export function buildUtilityBill(fields: UtilityBillFields): {
  barCode: string;
  digitableLine: string;
} {
  const { segment, valueKind, modulus, value, companyCode, freeField } = fields;
  const segmentDigit = [...SEGMENT_BY_DIGIT].find(([, name]) => name === segment)?.[0];
  const valueId = [...VALUE_IDS].find(
    ([, id]) => id.valueKind === valueKind && id.modulus === modulus,
  )?.[0];
  if (segmentDigit === undefined || valueId === undefined) {
    throw new RangeError('unknown segment, value kind or modulus');
  }
  if (value < 0n || value > MAX_VALUE) throw new RangeError(`the value has 11 digits: ${value}`);
  const companyDigits = companyCodeLength(segment);
  if (!/^[0-9]+$/.test(companyCode) || companyCode.length !== companyDigits) {
    throw new RangeError(`the company code of ${segment} has ${companyDigits} digits`);
  }
  if (!/^[0-9]+$/.test(freeField) || companyCode.length + freeField.length !== 29) {
    throw new RangeError(`the free field of ${segment} has ${29 - companyDigits} digits`);
  }
  const head = `8${segmentDigit}${valueId}`;
  const tail = String(value).padStart(11, '0') + companyCode + freeField;
  const barCode = `${head}${checkDigit(head + tail, modulus)}${tail}`;
  return { barCode, digitableLine: lineOf(barCode, modulus) };
}

/**
 * Parses a 44-digit bar code or a 48-digit digitable line (dots, dashes and spaces allowed). No due
 * date is parsed: only some companies put one in the free field, and the code does not show which.
 */
export function parseUtilityBill(barCodeOrLine: string): ParsedUtilityBill {
  if (barCodeOrLine.length > MAX_TEXT) return { ok: false, reason: 'malformed' };
  const digits = barCodeOrLine.replaceAll(/[.\-\s]/g, '');
  if (!/^8(?:[0-9]{43}|[0-9]{47})$/.test(digits)) return { ok: false, reason: 'malformed' };

  const barCode = digits.length === 44 ? digits : withoutBlockDigits(digits);
  const segment = SEGMENT_BY_DIGIT.get(barCode.slice(1, 2));
  const valueId = VALUE_IDS.get(barCode.slice(2, 3));
  if (segment === undefined || valueId === undefined) return { ok: false, reason: 'malformed' };

  const digitableLine = lineOf(barCode, valueId.modulus);
  const generalDigit = checkDigit(barCode.slice(0, 3) + barCode.slice(4), valueId.modulus);
  const areBlockDigitsRight = digits.length === 44 || digits === digitableLine;
  if (Number(barCode[3]) !== generalDigit || !areBlockDigitsRight) {
    return { ok: false, reason: 'wrong_check_digit' };
  }

  const value = BigInt(barCode.slice(4, 15));
  const companyEnd = 15 + companyCodeLength(segment);
  return {
    ok: true,
    bill: {
      barCode,
      digitableLine,
      segment,
      ...valueId,
      value,
      amountCents: valueId.valueKind === 'REAIS' ? value : null,
      companyCode: barCode.slice(15, companyEnd),
      freeField: barCode.slice(companyEnd),
    },
  };
}

/** As printed: four blocks 'NNNNNNNNNNN-D'. */
export function formatUtilityBillLine(digitableLine: string): string {
  const blocks = /^(.{11})(.)(.{11})(.)(.{11})(.)(.{11})(.)$/.exec(digitableLine);
  if (blocks === null) throw new RangeError('the digitable line of a utility bill has 48 digits');
  const [, a, w, b, x, c, y, d, z] = blocks;
  return `${a}-${w} ${b}-${x} ${c}-${y} ${d}-${z}`;
}

function companyCodeLength(segment: UtilityBillSegment): number {
  return segment === 'OTHER_COMPANY' ? 8 : 4;
}

function checkDigit(digits: string, modulus: 10 | 11): number {
  return modulus === 10 ? mod10CheckDigit(digits) : utilityBillMod11CheckDigit(digits);
}

function lineOf(barCode: string, modulus: 10 | 11): string {
  return [0, 11, 22, 33]
    .map((start) => barCode.slice(start, start + 11))
    .map((block) => block + checkDigit(block, modulus))
    .join('');
}

function withoutBlockDigits(line: string): string {
  return [0, 12, 24, 36].map((start) => line.slice(start, start + 11)).join('');
}
