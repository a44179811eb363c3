// Charges: conventional and express bank slips, bank slips with a Pix QR code, and the routes of
// the bank's test environment that pay and expire them. Contract: chapters "Charge request",
// "Charge response", "Charges".
import { z } from 'zod';
import { refuse } from './field-errors.js';
import { route } from './route.js';
import {
  answeredId,
  bigInteger,
  centsOfMillionths,
  clientIdentifier,
  filledText,
  freeText,
  millionths,
  plainDate,
  positiveReais,
  queryInteger,
  reais,
  text,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
  nameSchemas,
  ofTheBank,
} from './wire.js';

const address = z.looseObject({
  zipCode: text(20).optional(),
  publicPlace: text(200).optional(),
  neighborhood: text(100).optional(),
  number: text(20).optional(),
  complement: text(100).nullish(),
  city: text(100).optional(),
  state: text(2).optional(),
});

const documentText = filledText(18).meta({ description: 'CPF or CNPJ' });

const payer = z.looseObject({
  name: filledText(200),
  document: documentText,
  email: text(254).nullish(),
  phone: z.looseObject({ prefix: text(5).optional(), number: text(20).optional() }).nullish(),
  address: address.nullish(),
});

const finalBeneficiary = z.looseObject({
  name: filledText(200),
  document: documentText,
  address: address.nullish(),
});

const adjustmentType = filledText(60).describe(
  '`Fixed` is in reais, `Percentage` in percent, in any letter case; the bank may know others.',
);
/** Reais, or percent with up to six decimals. */
const adjustmentAmount = millionths;

const discount = z.looseObject({
  type: adjustmentType,
  items: z.array(z.looseObject({ date: plainDate, amount: adjustmentAmount })).max(100),
});
const lateAdjustment = z.looseObject({
  type: adjustmentType,
  date: plainDate,
  amount: adjustmentAmount,
});

const chargeFields = z.looseObject({
  type: z.enum(['BANKSLIP', 'BANKSLIP_PIX']),
  correlationId: clientIdentifier,
  yourNumber: freeText.nullish(),
  ourNumber: freeText.nullish(),
  dueDate: plainDate,
  Amount: positiveReais,
  payer,
  finalBeneficiary: finalBeneficiary.nullish(),
  discount: discount.nullish(),
  lateFine: lateAdjustment.nullish(),
  latePayment: lateAdjustment.nullish(),
});

/** The amounts of adjustments that are reais, by their fields. */
function fixedAmountsOf(charge: z.output<typeof chargeFields>): [string, bigint[]][] {
  const { discount, lateFine, latePayment } = charge;
  const isFixed = (one: { type: string } | null | undefined) => one?.type.toLowerCase() === 'fixed';
  return [
    ['discount', isFixed(discount) ? (discount?.items ?? []).map(({ amount }) => amount) : []],
    ['lateFine', lateFine && isFixed(lateFine) ? [lateFine.amount] : []],
    ['latePayment', latePayment && isFixed(latePayment) ? [latePayment.amount] : []],
  ];
}

/**
 * The contract shows discount, fine and interest with `BANKSLIP_PIX`; whether a `BANKSLIP` may
 * have them is left to the bank.
 */
export const chargeRequest = chargeFields.superRefine((charge, context) => {
  for (const [field, amounts] of fixedAmountsOf(charge))
    if (amounts.some((amount) => centsOfMillionths(amount) === null))
      refuse(context, [field], 'A fixed amount must have at most two decimals.');
  if (charge.type === 'BANKSLIP_PIX' && charge.ourNumber)
    refuse(context, ['ourNumber'], 'Must not be sent with BANKSLIP_PIX.');
});

export type ChargeRequest = z.output<typeof chargeRequest>;

/**
 * The response to a `BANKSLIP`; that to a `BANKSLIP_PIX` has the shape of a static Pix charge. The
 * type is open text.
 */
export const chargeResponse = z.looseObject({
  type: unneededText,
  correlationId: answeredId,
  amount: reais,
  status: unneededText,
  createdAt: unneeded(timestamp),
  updatedAt: unneeded(timestamp),
  /** Of a slip. */
  yourNumber: unneededId,
  ourNumber: unneededId,
  dueDate: unneededText,
  barCode: unneededText,
  digitableLine: unneededText,
  payer: unneeded(z.looseObject({})),
  /** Of a charge with a QR code. */
  description: unneededText,
  additionalInfo: unneeded(z.array(z.looseObject({ key: unneededText, value: unneededText }))),
  qrCode: unneededText,
  payments: unneeded(z.array(ofTheBank)),
});
export type ChargeResponse = z.output<typeof chargeResponse>;

const chargeRoute = { chapter: 'Charges', authentication: 'api-key' } as const;
const chargeParams = z.object({ correlationId: clientIdentifier });

export const createCharge = route({
  ...chargeRoute,
  name: 'createCharge',
  summary: 'Issues a bank slip, with a Pix QR code when its type is BANKSLIP_PIX.',
  method: 'POST',
  path: '/baas/v1/charges',
  idempotencyKey: 'accepted',
  body: chargeRequest,
  response: chargeResponse,
});

/** The current state of a charge. The payer of a static QR code may choose the amount. */
export const chargeDetails = chargeResponse.extend({ amount: unneeded(reais) });
export type ChargeDetails = z.output<typeof chargeDetails>;

/** Beyond the contract: publicly known of the real service (status and payments of one charge). */
export const getCharge = route({
  ...chargeRoute,
  name: 'getChargeAtBank',
  isBeyondContract: true,
  summary: 'Returns a charge with its payments.',
  method: 'GET',
  path: '/baas/v1/charges/{correlationId}',
  params: chargeParams,
  response: chargeDetails,
});

/** The days on which charges were issued, with the same bounds as days of the statement. */
const chargesQuery = z.object({
  page: queryInteger(1).optional(),
  limit: queryInteger(1).optional(),
  startDate: plainDate.optional(),
  endDate: plainDate.optional(),
});
export type ChargesQuery = z.output<typeof chargesQuery>;

/** Beyond the contract: publicly known of the real service. */
export const listCharges = route({
  ...chargeRoute,
  name: 'listChargesAtBank',
  isBeyondContract: true,
  summary: 'Lists the charges of the account, newest first.',
  method: 'GET',
  path: '/baas/v1/charges',
  query: chargesQuery,
  /** Null stands for one that cannot be read. */
  response: z.array(unneeded(chargeDetails)),
});

/**
 * The response of the routes that change a charge. The contract shows no body, so none of its
 * fields is required.
 */
const changeResponse = z.looseObject({
  correlationId: unneededId,
  status: unneededText,
  amount: unneeded(reais),
  nsu: unneeded(bigInteger),
});

const changeRoute = { ...chargeRoute, params: chargeParams, response: changeResponse } as const;

export const payCharge = route({
  ...changeRoute,
  name: 'payCharge',
  summary: 'Sandbox only: simulates the payment of a charge.',
  method: 'POST',
  path: '/baas/v1/charges/{correlationId}/pay',
});

export const expireCharge = route({
  ...changeRoute,
  name: 'expireCharge',
  summary: 'Sandbox only: simulates the expiration of a charge. Its due date changes.',
  method: 'PUT',
  path: '/baas/v1/charges/{correlationId}/expire',
});

/** The response to a change that is publicly known of the real service: text, or nothing, too. */
const textOrChange = z.union([changeResponse, z.string(), z.null()]);

/**
 * Beyond the contract: publicly known of the real service. Other fields of the request are passed
 * on.
 */
export const changeDueDate = route({
  ...changeRoute,
  name: 'changeChargeDueDate',
  isBeyondContract: true,
  summary: 'Changes the due date of a charge that is not paid.',
  method: 'PATCH',
  path: '/baas/v1/charges/{correlationId}',
  idempotencyKey: 'accepted',
  body: z.looseObject({ dueDate: plainDate }),
  response: textOrChange,
  mayRespondText: true,
});

/** Beyond the contract: publicly known of the real service. A later payment is still credited. */
export const voidCharge = route({
  ...changeRoute,
  response: textOrChange,
  mayRespondText: true,
  idempotencyKey: 'accepted',
  name: 'voidCharge',
  isBeyondContract: true,
  summary: 'Voids a charge that is not paid.',
  method: 'POST',
  path: '/baas/v1/charges/{correlationId}/void',
});

nameSchemas({
  Address: address,
  Payer: payer,
  FinalBeneficiary: finalBeneficiary,
  BankCharge: chargeResponse,
  BankChargeDetails: chargeDetails,
  ChargeChange: changeResponse,
});
