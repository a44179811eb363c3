// An onboarding as the partner that requested it reads it. The masked document is the only personal
// data.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { OperationState, ReportedCustomerStatus } from '../../generated/service/enums.js';
import { instant, integer, text, nameSchemas, ofTheBank } from '../../bank-contract/wire.js';

export const customerView = z.object({
  id: z.string(),
  /** The masked CPF or CNPJ. */
  document: z.string().nullable(),
  operationState: z.enum(OperationState),
  /** Why the outcome is unknown, or how it was established. */
  reason: z.string().nullable(),
  /** The bank's response; null while there is none. */
  response: z.object({ status: integer, body: ofTheBank }).nullable(),
  /** The bank's id of the customer; null where its response has none. */
  bankCustomerId: z.string().nullable(),
  /**
   * What the bank's last webhook reported about the customer; null while none has. The bank offers
   * no other source.
   */
  reportedStatus: z.enum(ReportedCustomerStatus).nullable(),
  reportedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
});

export const getCustomerRoute = route({
  name: 'getCustomer',
  chapter: 'Customer creation',
  summary:
    'Returns the outcome of an onboarding by the id of its operation, and whether the bank has ' +
    'approved the customer.',
  method: 'GET',
  path: '/v1/customers/{id}',
  authentication: 'partner-key',
  params: z.object({ id: text(100) }),
  response: customerView,
});

nameSchemas({ Customer: customerView });
