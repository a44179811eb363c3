// Customer onboarding. Contract: chapters "Customer creation request", "Customer creation". The
// contract does not show which fields are required. Here, a field is required if no account can be
// opened without it.
import { z } from 'zod';
import { parsePlainDate } from '../brazil/calendar.js';
import { parseTaxId } from '../brazil/tax-id.js';
import { failing, fieldError } from './field-errors.js';
import { route } from './route.js';
import {
  digits,
  filledText,
  integer,
  notNegativeReais,
  rejectInput,
  text,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
  nameSchemas,
} from './wire.js';

export const educationLevels = [
  ...(['Undefined', 'Illiterate', 'Elementary1To4Year', 'Elementary5Year'] as const),
  ...(['Elementary6To4Year', 'CompleteElementary', 'IncompleteHighSchool'] as const),
  ...(['CompleteHighSchool', 'IncompleteHigher', 'CompleteHigher', 'Postgraduate'] as const),
  ...(['MastersDegree', 'DoctorateDegree'] as const),
];
export const maritalStatuses = [
  ...(['Undefined', 'Single', 'Married', 'LegallySeparated', 'Divorced', 'StableUnion'] as const),
  ...(['Detached', 'Widower', 'Others'] as const),
];
export const genders = ['Uninformed', 'Male', 'Female'] as const;

const normalize = (value: string) => value.replaceAll('_', '').toLowerCase();

/** The contract lists the values as `CompleteHigher` and uses `COMPLETE_HIGHER`: both are valid. */
const oneOf = <Value extends string>(values: readonly Value[]) =>
  z.codec(text(60), z.enum(values as readonly [Value, ...Value[]]), {
    decode: (sent, context) => {
      const value = values.find((candidate) => normalize(candidate) === normalize(sent));
      if (value !== undefined) return value;
      return rejectInput(context, sent, fieldError('one_of', { values: values.join(', ') }));
    },
    encode: (value) => value,
  });

/** The contract shows no length. */
const codeVerification = filledText(100);
// Matches in linear time: no part can match the first character of the next part.
const emailText = /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/;

const timestampText =
  /^\d{4}-\d{2}-\d{2}(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

const address = z.looseObject({
  publicPlace: filledText(200),
  number: text(20).nullish(),
  zipCode: text(20).regex(/^\d{5}-?\d{3}$/, 'Must be 8 digits.'),
  neighborhood: text(100).nullish(),
  complement: text(100).nullish(),
  isConfirmed: z.boolean().nullish(),
  type: text(40).nullish(),
  cityId: integer.nullish(),
  cityName: text(100).nullish(),
});

export const customerRequest = z.looseObject({
  document: text(18).refine(
    (value) => parseTaxId(value)?.kind === 'NATURAL',
    'Must be a CPF: a customer is a person.',
  ),
  name: filledText(200),
  email: z.looseObject({
    value: text(254).regex(emailText, 'Must be an e-mail address.'),
    codeVerification,
  }),
  phone: z.looseObject({ ddd: digits(2), number: digits(8, 9), codeVerification }),
  fatherName: text(200).nullish(),
  motherName: text(200).nullish(),
  monthlyInvoicing: notNegativeReais.nullish(),
  birthDate: text(40).refine(
    (value) => timestampText.test(value) && parsePlainDate(value.slice(0, 10)) !== null,
    failing('time'),
  ),
  educationLevel: oneOf(educationLevels).nullish(),
  maritalStatus: oneOf(maritalStatuses).nullish(),
  gender: oneOf(genders).nullish(),
  address,
  /** The password for the login. */
  password: digits(6),
  /** Authorizes transactions. */
  securityPassword: digits(4),
  tokenNotification: text(1_000).nullish(),
});

export type CustomerRequest = z.output<typeof customerRequest>;

/** The contract shows no response body, so no field is required of a bank. */
export const customerResponse = z.looseObject({
  id: unneededId,
  /** Partly masked. */
  document: unneededText,
  name: unneededText,
  status: unneededText,
  account: unneeded(z.looseObject({ branch: unneededText, number: unneededText })),
  createdAt: unneeded(timestamp),
});

export const createCustomer = route({
  name: 'createCustomer',
  chapter: 'Customer creation',
  summary: 'Opens an account for a person. The content type is application/json-patch+json.',
  method: 'POST',
  path: '/v1/customers',
  refusesUnknown: false,
  authentication: 'partner-key',
  idempotencyKey: 'accepted',
  body: customerRequest,
  response: customerResponse,
});

nameSchemas({ CustomerRequest: customerRequest, BankCustomer: customerResponse });
