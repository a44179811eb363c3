// An onboarding as the partner that asked for it reads it: what became of it, and nothing of the person but a masked
// document.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { integer, text, timestamp } from '../contract/wire.js';

export const customerView = z.object({
  id: z.string(),
  /** Masked. */
  document: z.string().nullable(),
  operationState: z.string(),
  /** Why the outcome is not known, or how it came to be. */
  reason: z.string().nullable(),
  /** The bank's answer; null while there is none. */
  response: z.object({ status: integer, body: z.unknown() }).nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export const getCustomerRoute = route({
  name: 'getCustomer',
  chapter: 'Customer creation',
  summary: 'What became of an onboarding, by the id of its operation.',
  method: 'GET',
  path: '/v1/customers/{id}',
  authentication: 'partner-key',
  params: z.object({ id: text(100) }),
  response: customerView,
});
