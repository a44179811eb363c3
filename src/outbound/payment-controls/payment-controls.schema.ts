// The routes of payment controls. Only the operator changes them: a business system that could
// raise its own limits would have none.
import { z } from 'zod';
import { operatorIdOf } from '../../access/accounts/actor.js';
import { findBarCode } from '../../brazil/bill-code.js';
import { route } from '../../bank-contract/route.js';
import { ispbText } from '../../bank-contract/transfers.js';
import {
  filledText,
  instant,
  patternText,
  text,
  integerBetween,
  notNegativeReais,
  positiveReais,
  reais,
  nameSchemas,
  passedOn,
  integer,
} from '../../bank-contract/wire.js';
import { formatCounterparty } from '../../statement/expected-payments/counterparty.js';
import { PaymentControlAction } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

const admin = { chapter: 'Payment controls', authentication: 'admin-key' } as const;
const business = { chapter: 'Payment controls', authentication: 'api-key' } as const;
const params = z.object({ slug: text(60) });

const from0To = (maximum: number) => integerBetween(0, maximum);
const limit = notNegativeReais.nullable();
const limits = {
  /** The whole amount of a request, also of a batch. */
  perOperation: limit,
  perHour: limit,
  /** Over the whole night, also past midnight. */
  perNight: limit,
  perDay: limit,
  perKeyPerDay: limit,
  perCounterpartyPerDay: limit,
};

const controls = {
  checksPayee: z.boolean().describe("Whether the bank must confirm a payee's holderDocument."),
  allowList: z.boolean().describe('Whether only beneficiaries can be paid.'),
  allowListIncludesBills: z.boolean(),
  /** For the beneficiaries that are added from now on. */
  coolingOffHours: from0To(720),
  limits: z.strictObject(limits).describe('In reais; null: no limit.'),
  /** Hours in São Paulo. */
  nightFromHour: from0To(23),
  nightUntilHour: from0To(23),
};
const controlsView = z.object(controls);

/** Debits that a person expects without a request of the service, such as taxes or a card. */
const declaredDebit = z.strictObject({
  typeName: filledText(100).describe("The bank's name of the type of line."),
  /** `ispb/branch/number`; null: whoever is paid. */
  counterparty: patternText(
    60,
    /^\d{1,8}(\/[0-9A-Za-z.-]{1,20}){2}$/,
    'Must be ispb/branch/number.',
  )
    .transform((text) => {
      const [ispb = '', branch = '', number = ''] = text.split('/');
      return formatCounterparty({ ispb, branch, number });
    })
    .nullish()
    .transform((value) => value ?? null),
  maximum: positiveReais.describe('What they may sum to in 24 hours.'),
});
export type DeclaredDebit = z.output<typeof declaredDebit>;
const maxDeclaredDebits = 50;

/** Of which debits people are notified. */
const guard = {
  intervalSeconds: integerBetween(1, 60)
    .nullable()
    .describe('How often the statement is read, such as 3; null: the account is not guarded.'),
  bankContact: filledText(500).nullable().describe('Whom at the bank to call at once.'),
  alarmAbove: limit.describe('An unexplained debit, or those of 24 hours; null: each of them.'),
  declaredDebits: z.array(declaredDebit).max(maxDeclaredDebits),
};
const guardView = z.object({
  ...guard,
  stopsOnAlarm: z.boolean().describe('Whether an alarm stops the account.'),
  alertChannels: integer.describe('Of the account. Without one, an alarm notifies nobody.'),
  declaredDebits: z.array(
    z.object({
      ...{ typeName: z.string(), counterparty: z.string().nullable(), maximum: reais },
    }),
  ),
});

/** Who makes a change: the admin key names nobody. */
export const changedBy = {
  // An actor that begins so is a person who acted at the console.
  actor: filledText(100).refine((name) => operatorIdOf(name) === null, 'Must be a name.'),
  reason: filledText(500),
};

const changedBeneficiary = z.object({
  ...{ beneficiaryId: z.string(), counterparty: z.string(), coolingOffHours: integer.optional() },
});

/** What the history has of controls: their limits are whole cents, as text. */
const recordedControls = controlsView.omit({ limits: true }).extend({
  limitsInCents: z.object(
    Object.fromEntries(Object.keys(limits).map((name) => [name, z.string().nullable()])),
  ),
  guard: z.object({
    intervalSeconds: integer.nullish(),
    bankContact: z.string().nullish(),
    stopsOnAlarm: z.boolean().optional(),
    alarmAboveCents: z.string().nullable(),
    declaredDebits: z.array(
      z.object({
        ...{ typeName: z.string(), counterparty: z.string().nullable(), maximumCents: z.string() },
      }),
    ),
  }),
});

const auditedControlsView = controlsView.extend({
  guard: guardView,
  changes: z.array(
    z.object({
      action: z.enum(PaymentControlAction),
      actor: z.string(),
      reason: z.string(),
      details: passedOn(z.union([recordedControls.partial({ guard: true }), changedBeneficiary])),
      at: instant,
    }),
  ),
});

const ofAccount = { ...admin, path: '/v1/accounts/{slug}/payment-controls', params } as const;

export const getAccountPaymentControls = route({
  ...ofAccount,
  name: 'getAccountPaymentControls',
  summary: 'Returns who may be paid from an account and how much, and who changed it.',
  method: 'GET',
  response: auditedControlsView,
});

export const changePaymentControls = route({
  ...ofAccount,
  name: 'changePaymentControls',
  summary: 'Changes payment controls at once. Omitted fields stay; a limit of null is removed.',
  method: 'PUT',
  body: z.strictObject({
    ...z.strictObject(controls).partial().shape,
    limits: z.strictObject(limits).partial().optional(),
    guard: z.strictObject(guard).partial().optional(),
    ...changedBy,
  }),
  response: auditedControlsView,
});

export const getPaymentControls = route({
  ...business,
  name: 'getPaymentControls',
  summary: 'Returns who may be paid from the account of the key, and how much.',
  method: 'GET',
  path: '/v1/payment-controls',
  response: controlsView,
});

export const beneficiaryView = z.object({
  id: z.string(),
  name: z.string(),
  counterparty: z.string().describe('`ispb/branch/number`, a number alone, or a bar code.'),
  createdAt: instant,
  usableFrom: instant.describe('It can be paid from this time.'),
});

const accountNumber = (maxLength: number) =>
  patternText(maxLength, /^[0-9A-Za-z.-]*[0-9A-Za-z][0-9A-Za-z.-]*$/, 'Must be digits or letters.');
const payees = {
  /** For a Pix, also by key. */
  account: z
    .strictObject({ ispb: ispbText, branch: accountNumber(10), number: accountNumber(20) })
    .optional(),
  /** For transfers between accounts of the bank. */
  accountNumber: accountNumber(20).optional(),
  /** The bar code or the digitable line of a bill. */
  bill: text(60)
    .refine((code) => findBarCode(code) !== null, 'Must be a bar code or a digitable line.')
    .optional(),
};

const beneficiariesPath = '/v1/accounts/{slug}/beneficiaries';

export const addBeneficiary = route({
  ...admin,
  name: 'addBeneficiary',
  summary: 'Adds a beneficiary, who can be paid after the cooling-off time. A repeat adds nothing.',
  method: 'POST',
  path: beneficiariesPath,
  params,
  successStatus: 201,
  body: z
    .strictObject({ name: filledText(200), ...payees, ...changedBy })
    .refine(
      (body) => [body.account, body.accountNumber, body.bill].filter(Boolean).length === 1,
      'Must have one of account, accountNumber and bill.',
    ),
  response: beneficiaryView,
});

export const removeBeneficiary = route({
  ...admin,
  name: 'removeBeneficiary',
  summary: 'Removes a beneficiary at once. Added again, it begins a new cooling-off time.',
  method: 'DELETE',
  path: `${beneficiariesPath}/{id}`,
  params: z.object({ slug: text(60), id: text(100) }),
  body: z.strictObject(changedBy),
  response: beneficiaryView,
});

export const listAccountBeneficiaries = route({
  ...admin,
  name: 'listAccountBeneficiaries',
  summary: 'Lists the beneficiaries of an account, newest first.',
  method: 'GET',
  path: beneficiariesPath,
  params,
  query: listQuery({}),
  response: listOf(beneficiaryView),
});

export const listBeneficiaries = route({
  ...business,
  name: 'listBeneficiaries',
  summary: 'Lists the beneficiaries of the account of the key, newest first.',
  method: 'GET',
  path: '/v1/beneficiaries',
  query: listQuery({}),
  response: listOf(beneficiaryView),
});

nameSchemas({
  PaymentControls: controlsView,
  AuditedPaymentControls: auditedControlsView,
  Beneficiary: beneficiaryView,
});
