// The control route that approves or refuses a customer.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { text } from '../../bank-contract/wire.js';

export const decideCustomerRoute = route({
  name: 'sandboxDecideCustomer',
  chapter: 'Sandbox control',
  summary: 'Approves or refuses a customer that is not decided yet, and sends the webhook.',
  method: 'POST',
  path: '/sandbox/customers/{id}/decision',
  authentication: 'api-key',
  /** The id in the response to the creation of the customer. */
  params: z.object({ id: z.uuid('Must be the id of a customer.') }),
  body: z.looseObject({
    decision: z.enum(['approve', 'refuse']),
    reason: text(200).nullish(),
  }),
  response: z.object({ id: z.string(), status: z.string() }),
});
