// TEDs: transfers to an account of another institution, outside of Pix. The contract shows only
// their statement lines; the routes are publicly known of the real service. A TED has no
// endToEndId, and no nsu before its line.
import { z } from 'zod';
import { route } from './route.js';
import { schedulingFields, transferDetails, transferRequestFields } from './transfers.js';
import { text, unneededText, nameSchemas } from './wire.js';

const { amount, description, beneficiary, externalId } = transferRequestFields;

export const tedRequest = z.looseObject({
  ...{ amount, description, externalId },
  beneficiary: beneficiary.unwrap().unwrap(),
  ...schedulingFields,
});

export const tedResponse = transferDetails.extend({ paymentChannel: unneededText });

export type TedResponse = z.output<typeof tedResponse>;

const tedRoute = {
  chapter: 'Transfers',
  authentication: 'api-key',
  response: tedResponse,
} as const;

export const createTed = route({
  ...tedRoute,
  name: 'createTed',
  isBeyondContract: true,
  summary: 'Sends a TED to an account of another institution.',
  method: 'POST',
  path: '/baas/api/v2/transfers/ted',
  idempotencyKey: 'required',
  body: tedRequest,
});

export const getTed = route({
  ...tedRoute,
  name: 'getTedAtBank',
  isBeyondContract: true,
  summary: 'Returns the current state of a TED by its id.',
  method: 'GET',
  path: '/baas/api/v2/transfers/ted/{identifier}',
  params: z.object({ identifier: text(100) }),
});

nameSchemas({ TedRequest: tedRequest, Ted: tedResponse });
