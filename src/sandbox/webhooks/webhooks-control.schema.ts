import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { integer, text } from '../../bank-contract/wire.js';

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
    hours: integer.refine(
      (hours) => hours > 0 && hours <= maxHours,
      `Must be from 1 to ${maxHours}.`,
    ),
  }),
  response: z.object({ count: integer }),
});
