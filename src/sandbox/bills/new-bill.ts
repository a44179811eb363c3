import { buildBankSlip, parseBankSlip } from '../../brazil/bank-slip.js';
import { parseBillCode } from '../../brazil/bill-code.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { FIRST_DUE_DATE, LAST_DUE_DATE } from '../../brazil/due-date-factor.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import {
  buildUtilityBill,
  parseUtilityBill,
  type UtilityBillSegment,
} from '../../brazil/utility-bill.js';
import { serializeAdjustments } from '../../bank-contract/charge-terms.js';
import { centsOfMillionths } from '../../bank-contract/wire.js';
import { invariant } from '../../platform/errors.js';
import type { Party } from '../accounts/party.js';
import type { BillRow } from './bill.js';
import type { NewBillRequest, RequestedBill } from './bill-control.schema.js';
import type { BillParties } from './bill-parties.js';

/** The largest amount that each type of code can encode. */
const maxCents = { BANKSLIP: 9_999_999_999_999n, TAXES: 99_999_999_999n } as const;
const defaultDays = 10;

const requestedCode = ({ barCode, digitableLine }: RequestedBill) =>
  barCode ?? digitableLine ?? null;

/** The request with the amount and the due date of its code, unless given. Null: no amount. */
export function withCode(request: RequestedBill, today: PlainDate): NewBillRequest | null {
  const parsed = parseBillCode(requestedCode(request) ?? '');
  const barCode = parsed.ok ? parsed.code.barCode : '';
  const slip = parseBankSlip(barCode, today);
  const bill = parseUtilityBill(barCode);
  const cents = slip.ok ? slip.slip.amountCents : bill.ok ? bill.bill.amountCents : null;
  // A code without an amount has zero.
  const amount = request.amount ?? (cents || null);
  const dueDate = request.dueDate ?? (slip.ok ? slip.slip.dueDate : null);
  return amount === null ? null : { ...request, amount, dueDate };
}

/** Errors of a well-formed request that describes an impossible bill, by JSON path. */
export function newBillProblems(request: NewBillRequest): Record<string, string[]> {
  const { type, amount, dueDate, rebateAmount } = request;
  const problems: Record<string, string[]> = {};
  const code = requestedCode(request);
  const parsed = code === null ? null : parseBillCode(code);
  if (parsed?.ok && parsed.code.type !== type)
    problems[typeof request.barCode === 'string' ? '$.barCode' : '$.digitableLine'] = [
      `Must be the code of a bill of type ${type}.`,
    ];
  if (!parsed && amount > maxCents[type])
    problems['$.amount'] = ['Is more than a code of this type can encode.'];
  if (!parsed && type === 'BANKSLIP' && isBeyondCodes(dueDate))
    problems['$.dueDate'] = [`Must be from ${FIRST_DUE_DATE} to ${LAST_DUE_DATE}.`];
  if ((rebateAmount ?? 0n) >= amount) problems['$.rebateAmount'] = ['Must be below the amount.'];
  const { minimum, maximum } = rangeOf(request);
  if (minimum > maximum) problems['$.minimumPaymentAmount'] = ['Must not be above the maximum.'];
  return problems;
}

const isBeyondCodes = (dueDate: PlainDate | null | undefined) =>
  Boolean(dueDate) && (dueDate! < FIRST_DUE_DATE || dueDate! > LAST_DUE_DATE);

/**
 * With partial payment, by default from one cent to the full amount; otherwise only the full
 * amount.
 */
function rangeOf(request: NewBillRequest): { minimum: bigint; maximum: bigint } {
  const { amount, minimumPaymentAmount, maximumPaymentAmount } = request;
  if (!request.isAllowPartialPayment) return { minimum: amount, maximum: amount };
  return { minimum: minimumPaymentAmount ?? 1n, maximum: maximumPaymentAmount ?? amount };
}

/**
 * Builds a bill from a request without problems. Its code is derived from `seed`, 32 hexadecimal
 * digits.
 */
export function newBill(
  request: NewBillRequest,
  { today, seed }: { today: PlainDate; seed: string },
): BillRow {
  const dueDate = request.dueDate ?? addDays(today, defaultDays);
  const { minimum, maximum } = rangeOf(request);
  const { discounts, fine, interest } = request;
  return {
    ...codesOf(request, dueDate, seed),
    type: request.type,
    status: request.status,
    amountCents: request.amount,
    dueDate,
    isAllowPartialPayment: request.isAllowPartialPayment ?? false,
    minimumPaymentCents: minimum,
    maximumPaymentCents: maximum,
    identifierNumber: null,
    rebateCents: request.rebateAmount ?? 0n,
    adjustments: serializeAdjustments({
      discounts: (discounts ?? []).map(adjustmentOf),
      fine: fine ? adjustmentOf(fine) : null,
      interest: interest ? adjustmentOf(interest) : null,
    }),
    parties: partiesOf(request),
  };
}

function adjustmentOf({ type, date, amount }: NonNullable<NewBillRequest['fine']>) {
  const isPercentage = type === 'PERCENTAGE';
  return { isPercentage, date, amount: isPercentage ? amount : (centsOfMillionths(amount) ?? 0n) };
}

/** The parties that the request names; the bill has defaults for the others. */
function partiesOf({ payer, beneficiary }: NewBillRequest): Partial<BillParties> {
  return {
    ...(payer ? { payer: partyOf(payer) } : {}),
    ...(beneficiary
      ? {
          beneficiary: {
            ...partyOf(beneficiary),
            fantasyName: beneficiary.fantasyName ?? beneficiary.name,
          },
        }
      : {}),
  };
}

function partyOf({ document, name }: { document: string; name: string }): Party['holder'] {
  const taxId = parseTaxId(document);
  invariant(taxId, 'the route accepts only valid documents');
  return { document: taxId.number, name, type: taxId.kind };
}

function codesOf(request: NewBillRequest, dueDate: PlainDate, seed: string) {
  const code = requestedCode(request);
  if (code !== null) {
    const parsed = parseBillCode(code);
    invariant(parsed.ok, 'the route accepts only valid codes');
    const { barCode, digitableLine } = parsed.code;
    return { barCode, digitableLine };
  }
  const digits = String(BigInt(`0x${seed}`))
    .padStart(39, '0')
    .slice(-27);
  return request.type === 'BANKSLIP'
    ? slipCodes(request.amount, dueDate, digits)
    : taxCodes(request.amount, digits);
}

function slipCodes(amountCents: bigint, dueDate: PlainDate, digits: string) {
  return buildBankSlip({ bankCode: '237', amountCents, dueDate, freeField: digits.slice(0, 25) });
}

const segments: readonly UtilityBillSegment[] = [
  ...(['CITY_HALL', 'WATER', 'ENERGY', 'TELECOM', 'GOVERNMENT'] as const),
  ...(['OTHER_COMPANY', 'TRAFFIC_FINE'] as const),
];

function taxCodes(value: bigint, digits: string) {
  const segment = segments[Number(digits[25]) % segments.length]!;
  const isOther = segment === 'OTHER_COMPANY';
  return buildUtilityBill({
    segment,
    valueKind: 'REAIS',
    modulus: Number(digits[26]) % 2 === 0 ? 10 : 11,
    value,
    companyCode: isOther ? '34028316' : '0179',
    freeField: digits.slice(0, isOther ? 21 : 25),
  });
}
