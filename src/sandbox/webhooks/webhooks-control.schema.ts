import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { integer, integerBetween, text } from '../../bank-contract/wire.js';

/** Thirty days. */
const maxHours = 720;

export const resendWebhooks = route({
  name: 'sandboxResendWebhooks',
  chapter: 'Sandbox control',
  summary: 'Sends every webhook of the last hours again, all at once, as support does.',
  method: 'POST',
  path: '/sandbox/webhooks/resend',
  authentication: 'api-key',
  body: z.looseObject({
    account: text(20).nullish(),
    hours: integerBetween(1, maxHours),
  }),
  response: z.object({ count: integer }),
});
