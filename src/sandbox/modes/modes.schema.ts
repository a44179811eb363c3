// The modes, with their values in each preset. A mode decides behaviour that the contract leaves
// open.
import { z } from 'zod';
import { maxBatchItems } from '../../bank-contract/batch-transfers.js';
import { lineTypes, type LineType } from '../../bank-contract/line-types.js';
import { route } from '../../bank-contract/route.js';
import { departures } from '../../platform/http/lenient-request.js';
import {
  filledText,
  positiveReais,
  integerBetween,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { presets, type Preset } from '../presets/presets.js';

const word = filledText(40);
const pricedTypes = (Object.keys(lineTypes) as LineType[]).filter((type) => type !== 'DEBIT_FEE');
const oneOf = <const Values extends [string, ...string[]]>(...values: Values) => z.enum(values);

/** The names of a charge's status. The contract shows only the names at creation. */
const chargeStatus = z.strictObject({
  slipCreated: word,
  qrCreated: word,
  paid: word,
  expired: word,
  voided: word,
});

export const modes = z.strictObject({
  preset: oneOf(...presets).describe(
    'Which fields, types and routes are shown. A change of it sets every mode.',
  ),
  idempotentRepeat: oneOf('replay', 'conflict', 'ignore').describe(
    'The result of a repeat of a key or correlationId: first response, 409, or a second effect.',
  ),
  statementOrder: oneOf('desc', 'asc'),
  statementPageCap: integerBetween(1, 10_000).describe('The most lines of a page, at any `limit`.'),
  endDate: oneOf('exclusive', 'inclusive').describe(
    'Whether a line of exactly 03:00:00.000Z of the `endDate` is returned.',
  ),
  nsuVisibility: oneOf('in-order', 'out-of-order').describe(
    '`out-of-order`: one line in three becomes visible two seconds late, after later lines.',
  ),
  balanceOrder: oneOf('nsu', 'commit').describe(
    'Whether balances follow the order of nsu or the order in which movements were committed.',
  ),
  chargeById: oneOf('served', 'absent').describe(
    'Whether the state of a charge, or of a transfer, can be read.',
  ),
  transferById: oneOf('served', 'absent'),
  lineExternalId: oneOf('present', 'absent').describe(
    "Whether new lines carry the client's externalId; written lines do not change.",
  ),
  lineOriginalId: oneOf('present', 'absent').describe(
    "Whether new lines of a refund carry its original's endToEndId; written lines do not change.",
  ),
  refundEndToEndId: oneOf('own', 'original').describe(
    "The endToEndId on lines of a refund or return: one of its own, or the original's.",
  ),
  reversalType: oneOf('own', 'CREDIT_PIX').describe(
    'The type of the credit that undoes a failed Pix or refund: its own, or that of any Pix.',
  ),
  answers: oneOf('contract', 'published').describe(
    "Whether answers have the contract's forms, or those that the bank's own clients show.",
  ),
  refusedForms: z
    .array(oneOf(...departures))
    .max(departures.length)
    .describe(
      "How requests must not depart from the contract's form: an empty text for an absent one, " +
        'a name or a listed value in another letter case, a date-time for a date.',
    ),
  qrCodeKey: oneOf('optional', 'required').describe(
    'Whether a static QR code needs an IdempotencyKey.',
  ),
  chargeStatus,
  payerDocuments: oneOf('checked', 'text').describe(
    "Whether a charge's payer and guarantor need a CPF or CNPJ, or may have any text.",
  ),
  accountsWithoutSlips: z
    .array(filledText(20))
    .max(100)
    .describe('Numbers of accounts that are no authorized emitters of bank slips.'),
  adjustmentTypes: oneOf('fixed-or-percentage', 'any').describe(
    'Whether other types of discount, fine and interest are issued, without changing any amount.',
  ),
  interestPeriod: oneOf('day', 'month').describe('Of late interest as a percentage.'),
  slipAdjustments: oneOf('pix-only', 'any').describe(
    'Whether a `BANKSLIP` may have a discount, a fine and interest.',
  ),
  freeAmountPayment: positiveReais.describe('What `/pay` pays on a QR code without an amount.'),
  webhookSigning: oneOf(
    'registered',
    'header',
    'bearer',
    'basic',
    'none',
    'standard-webhooks',
  ).describe(
    'How webhooks are authenticated: as registered, or otherwise with the registered secret.',
  ),
  webhookShape: oneOf('complete', 'v1', 'v2').describe(
    'The body of CHARGE_PAID: the fields of both published versions, or exactly one version.',
  ),
  pixDebit: oneOf('at-acceptance', 'when-effective').describe(
    'When a sent Pix is debited. With `when-effective` its amount is blocked until then.',
  ),
  pixStepMs: integerBetween(0, 86_400_000).describe('How long a sent Pix stays in each state.'),
  lookupMinutes: integerBetween(1, 10_080).describe("How long a look-up's endToEndId is valid."),
  lookupAccount: oneOf('own', 'any').describe(
    "Whose look-up can begin a transfer: the payer's own, or that of any account.",
  ),
  unusedLookups: integerBetween(1, 10_000)
    .nullable()
    .describe(
      'How many look-ups of a day may begin no transfer before the directory blocks; or null.',
    ),
  medBlock: oneOf('none', 'requested-amount').describe(
    'Whether a MED request blocks its amount in the balance until it is decided.',
  ),
  batch: oneOf('atomic', 'partial').describe(
    '`partial`: an item that fails does not stop the others.',
  ),
  batchMaximumItems: integerBetween(1, maxBatchItems),
  batchExternalIds: oneOf('any', 'unique').describe(
    '`unique`: items of a batch with one externalId are refused.',
  ),
  verificationCodes: oneOf('digits', 'any').describe(
    '`digits`: a verification code of a customer has 4 to 8 digits.',
  ),
  customerApproval: oneOf('automatic', 'control').describe(
    'Whether a new customer is approved by itself, or only by the control plane.',
  ),
  /** The hours of São Paulo in which bills are paid on business days; `close` is exclusive. */
  billPaymentHours: z
    .strictObject({ open: integerBetween(0, 23), close: integerBetween(1, 24) })
    .refine(({ open, close }) => open < close, 'Must open before it closes.'),
  fees: z
    .partialRecord(z.enum(pricedTypes), positiveReais)
    .describe('What the bank charges for each line of a type, by a line of its own after it.'),
  rateLimitPerSecond: integerBetween(1, 100_000)
    .nullable()
    .describe(
      'The most requests of one account in a second before it gets 429; null for no limit.',
    ),
});

export type ModeValues = z.output<typeof modes>;

const publishedModes: ModeValues = {
  preset: 'published',
  idempotentRepeat: 'replay',
  statementOrder: 'desc',
  statementPageCap: 1_000,
  endDate: 'exclusive',
  nsuVisibility: 'in-order',
  balanceOrder: 'nsu',
  chargeById: 'served',
  transferById: 'served',
  lineExternalId: 'absent',
  lineOriginalId: 'absent',
  refundEndToEndId: 'own',
  reversalType: 'CREDIT_PIX',
  answers: 'published',
  refusedForms: [],
  qrCodeKey: 'optional',
  chargeStatus: {
    slipCreated: 'Pending',
    qrCreated: 'Created',
    paid: 'Paid',
    expired: 'Expired',
    voided: 'Voided',
  },
  payerDocuments: 'checked',
  accountsWithoutSlips: [],
  adjustmentTypes: 'fixed-or-percentage',
  interestPeriod: 'day',
  slipAdjustments: 'pix-only',
  freeAmountPayment: 100n,
  webhookSigning: 'registered',
  webhookShape: 'v1',
  pixDebit: 'at-acceptance',
  pixStepMs: 300,
  lookupMinutes: 720,
  lookupAccount: 'own',
  unusedLookups: null,
  medBlock: 'none',
  batch: 'atomic',
  batchMaximumItems: maxBatchItems,
  batchExternalIds: 'any',
  verificationCodes: 'digits',
  customerApproval: 'automatic',
  billPaymentHours: { open: 7, close: 20 },
  fees: {},
  rateLimitPerSecond: null,
};

export const modesOfPreset: Record<Preset, ModeValues> = {
  contract: {
    ...publishedModes,
    ...{ preset: 'contract', qrCodeKey: 'required', answers: 'contract' },
    ...{ chargeById: 'absent', transferById: 'absent' },
  },
  published: publishedModes,
  complete: {
    ...publishedModes,
    preset: 'complete',
    lineExternalId: 'present',
    lineOriginalId: 'present',
    reversalType: 'own',
    answers: 'contract',
    webhookShape: 'complete',
  },
};

/** A change. Modes that are left out stay as they are, and so do the names of `chargeStatus`. */
const modeChanges = modes.extend({ chargeStatus: chargeStatus.partial() }).partial();

export type ModeChanges = z.output<typeof modeChanges>;

const control = {
  chapter: 'Sandbox control',
  authentication: 'api-key',
  path: '/sandbox/modes',
  response: modes,
} as const;

export const readModes = route({
  ...control,
  name: 'sandboxReadModes',
  summary: 'Returns the current modes, which decide behaviour that the contract leaves open.',
  method: 'GET',
});

export const changeModes = route({
  ...control,
  name: 'sandboxChangeModes',
  summary:
    'Changes the given modes; `preset` first sets all of them. Applies to what happens after it.',
  method: 'PATCH',
  body: modeChanges,
});

nameSchemas({ Modes: modes });
