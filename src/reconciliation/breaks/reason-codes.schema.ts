// The API of reason codes: the account's own list of why decisions are made, and what each says of
// the money.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { filledText, instant, integer, nameSchemas } from '../../bank-contract/wire.js';
import { codingBody, codingView } from '../../statement/expected-payments/coding.js';
import { reasonCodeText, reasonText } from './breaks.schema.js';

const base = { chapter: 'Breaks', authentication: 'api-key' } as const;
/** More would be no list that a person chooses from. */
export const maxReasonCodes = 200;

const reasonCodeView = z.object({
  ...{ code: z.string(), name: z.string(), coding: codingView, isActive: z.boolean() },
  version: integer.describe('Of the code; each change is another.'),
  ...{ actor: z.string(), reason: z.string(), at: instant },
});
const reasonCodesView = z.object({
  data: z.array(reasonCodeView).describe('In the order of their codes; retired ones too.'),
});

export const getReasonCodes = route({
  ...base,
  method: 'GET',
  name: 'getReasonCodes',
  summary: 'Returns the reason codes of the account.',
  path: '/v1/reason-codes',
  response: reasonCodesView,
});

export const changeReasonCode = route({
  ...base,
  method: 'PUT',
  name: 'changeReasonCode',
  summary: 'Adds, changes or retires a reason code. Decisions that were made keep what it said.',
  path: '/v1/reason-codes',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    code: reasonCodeText.describe('Of the account’s own choice.'),
    name: filledText(100),
    coding: codingBody.default({}),
    isActive: z.boolean().default(true).describe('False retires it.'),
    reason: reasonText,
  }),
  response: reasonCodesView,
});

export type ReasonCodeBody = z.output<typeof changeReasonCode.body>;

nameSchemas({ ReasonCode: reasonCodeView });
