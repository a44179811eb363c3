// Transfers: a Pix by key, a Pix by bank account data, or a transfer between accounts of the bank,
// all by one route. Contract: chapters "Transfer request bodies", "Transfer response", "Transfers".
import { z } from 'zod';
import { parseTaxId } from '../brazil/tax-id.js';
import { failing, fieldError, refuse } from './field-errors.js';
import { route } from './route.js';
import {
  answeredId,
  bigInteger,
  clientIdentifier,
  filledText,
  freeText,
  maxIdLength,
  positiveReais,
  reais,
  requestedTime,
  text,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
  nameSchemas,
  passedOn,
} from './wire.js';

/** A CPF or CNPJ, with or without punctuation. */
export const taxIdText = text(40)
  .refine((value) => parseTaxId(value) !== null, failing('tax_id'))
  .meta({
    id: 'TaxId',
    description: 'A CPF or CNPJ with its check digits, with or without punctuation.',
    pattern:
      '^\\s*([0-9]{11}|[0-9]{3}\\.[0-9]{3}\\.[0-9]{3}-[0-9]{2}|[0-9A-Za-z]{12}[0-9]{2}|' +
      '[0-9A-Za-z]{2}(\\.[0-9A-Za-z]{3}){2}/[0-9A-Za-z]{4}-[0-9]{2})\\s*$',
  });

export const accountType = z.enum(['CURRENT', 'PAYMENT', 'SAVING', 'SALARY']);
export const holderType = z.enum(['NATURAL', 'LEGAL']);

/** Eight characters. The central bank now allows letters, too. */
export const ispbText = text(8).regex(
  /^[0-9A-Z]{8}$/,
  'Must be eight characters, digits or capital letters.',
);

const manualHolder = z.looseObject({
  document: taxIdText,
  name: filledText(200),
  type: holderType,
});

const accountDigits = (maxLength: number) =>
  text(maxLength).regex(/^[0-9A-Za-z.-]+$/, 'Must be digits, letters, points or hyphens.');

const manualBeneficiary = z.looseObject({
  number: accountDigits(20),
  branch: accountDigits(10),
  type: accountType,
  participantIspb: ispbText,
  holder: manualHolder,
});

/** The fields that identify each shape. */
const shapeFields = {
  key: ['endToEndId', 'initiationType'],
  manual: ['beneficiary'],
  internal: ['beneficiaryAccount'],
} as const;
const allShapeFields = Object.values(shapeFields).flat();

/** Beyond the contract: publicly known of the requests that the bank's own clients write. */
export const schedulingFields = {
  /** When it is sent; near to the present, at once. */
  transferAt: requestedTime.nullish(),
  /** A split would pay others than the beneficiary, whom nothing has checked. */
  splitInstructions: z
    .array(passedOn(z.looseObject({})))
    .max(0, 'Must be empty: a transfer is not split.')
    .nullish(),
};

export const transferRequestFields = {
  amount: positiveReais,
  description: freeText.nullish(),
  endToEndId: filledText(64).nullish(),
  initiationType: z.literal('KEY').nullish(),
  beneficiary: manualBeneficiary.nullish(),
  beneficiaryAccount: filledText(20).nullish(),
  /** The bank stores it for transfers between accounts only. */
  externalId: clientIdentifier.nullish(),
  ...schedulingFields,
};

/** Has one of three shapes. A request with fields of two shapes is ambiguous and rejected. */
export const transferRequest = z
  .looseObject(transferRequestFields)
  .superRefine((request, context) => {
    const sent = allShapeFields.filter((field) => (request[field] ?? null) !== null);
    const [first] = sent;
    if (!first) {
      refuse(context, [], 'One of endToEndId, beneficiary and beneficiaryAccount is required.');
      return;
    }
    const ofFirst = Object.values(shapeFields).find((fields) =>
      fields.some((field) => field === first),
    );
    for (const field of sent) {
      if (!ofFirst?.some((name) => name === field))
        refuse(context, [field], `Cannot be sent together with ${first}.`);
    }
    for (const field of ofFirst === shapeFields.key ? shapeFields.key : [])
      if (!sent.includes(field)) refuse(context, [field], fieldError('required'));
  });

export type TransferRequest = z.output<typeof transferRequest>;

export type TransferShape = { amountCents: bigint; description: string | null } & (
  | { shape: 'key'; endToEndId: string }
  | { shape: 'manual'; beneficiary: z.output<typeof manualBeneficiary> }
  | { shape: 'internal'; beneficiaryAccount: string; externalId: string | null }
);

/** Returns the shape of a validated request. */
export function transferShape(request: TransferRequest): TransferShape {
  const { endToEndId, beneficiary, beneficiaryAccount, externalId } = request;
  const common = { amountCents: request.amount, description: request.description ?? null };
  if (endToEndId) return { ...common, shape: 'key', endToEndId };
  if (beneficiary) return { ...common, shape: 'manual', beneficiary };
  if (beneficiaryAccount)
    return { ...common, shape: 'internal', beneficiaryAccount, externalId: externalId ?? null };
  throw new RangeError('a transfer request has one of three shapes');
}

/** The payer or the beneficiary of a transfer in responses. */
export const transferParty = z.looseObject({
  number: unneededId,
  branch: unneededId,
  type: unneededText,
  holder: unneeded(
    z.looseObject({ document: unneededText, name: unneededText, type: unneededText }),
  ),
  participant: unneeded(z.looseObject({ name: unneededText, ispb: unneededText })),
});

export const transferResponse = z.looseObject({
  id: answeredId,
  /** Only on transfers between accounts. */
  externalId: unneededId,
  /** Not on transfers between accounts. */
  endToEndId: unneededId,
  transactionNsu: unneeded(bigInteger).describe("The nsu of the debit on the payer's statement."),
  status: unneededText,
  type: unneededText,
  amount: reais,
  createdAt: unneeded(timestamp),
  description: unneededText,
  payer: unneeded(transferParty),
  beneficiary: unneeded(transferParty),
});

export type TransferResponse = z.output<typeof transferResponse>;

export const transferDetails = transferResponse.extend({
  error: unneeded(z.looseObject({ code: unneededText, description: unneededText })),
  updatedAt: unneeded(timestamp),
});

export type TransferDetails = z.output<typeof transferDetails>;

const transferRoute = { chapter: 'Transfers', authentication: 'api-key' } as const;

export const createTransfer = route({
  ...transferRoute,
  name: 'createTransfer',
  summary: 'Sends a Pix by key or by account data, or transfers to an account of the bank.',
  method: 'POST',
  path: '/baas/api/v2/transfers',
  idempotencyKey: 'required',
  body: transferRequest,
  response: transferResponse,
});

/** Beyond the contract: publicly known of the real service (the state of one transfer). */
export const getTransfer = route({
  ...transferRoute,
  name: 'getTransferAtBank',
  isBeyondContract: true,
  summary: 'Returns the current state of a transfer, by its id, endToEndId or externalId.',
  method: 'GET',
  path: '/baas/api/v2/transfers/{identifier}',
  params: z.object({ identifier: text(maxIdLength) }),
  response: transferDetails,
});

nameSchemas({
  AccountHolder: manualHolder,
  AccountBeneficiary: manualBeneficiary,
  TransferParty: transferParty,
  BankTransfer: transferResponse,
  BankTransferDetails: transferDetails,
});
